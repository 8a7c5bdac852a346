//! A turn's text is one text; on some wires it is several, with other things between. How long each was is kept beside those things,
//! never the text itself: the history's text is scrubbed of secrets, and what a provider wants back is not.

/// Cuts a text into pieces of so many bytes. Where it is not what was measured, all of it is the first piece.
pub(crate) fn cut<'a>(text: &'a str, lengths: &[usize]) -> Vec<&'a str> {
    let mut pieces = Vec::with_capacity(lengths.len());
    let mut rest = Some(text);
    for length in lengths {
        let Some((piece, left)) = rest.and_then(|rest| rest.split_at_checked(*length)) else {
            rest = None;
            break;
        };
        pieces.push(piece);
        rest = Some(left);
    }
    if rest == Some("") {
        return pieces;
    }
    lengths.iter().enumerate().map(|(index, _)| if index == 0 { text } else { "" }).collect()
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_text_is_cut_where_it_was_measured_and_nothing_of_it_is_lost() {
        assert_eq!(cut("aébc", &[3, 2]), ["aé", "bc"]);
        assert_eq!(cut("abc", &[1, 0, 2]), ["a", "", "bc"]);
        for lengths in [&[1, 1][..], &[4, 1], &[2, 3], &[usize::MAX, 3]] {
            assert_eq!(cut("aébc!", lengths), ["aébc!", ""], "{lengths:?}");
        }
        assert!(cut("abc", &[]).is_empty());
    }
}
