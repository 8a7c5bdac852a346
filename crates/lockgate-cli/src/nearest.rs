//! What was probably meant.

/// The candidate that is nearest to a mistyped word, where one is near.
pub(crate) fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(word.chars().count()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let codes = ["unknown_tool", "timed_out", "cancelled"];
        assert_eq!(nearest("unknwon_tool", codes), Some("unknown_tool"));
        assert_eq!(nearest("canceled", codes), Some("cancelled"));
        assert_eq!(nearest("quota_exceeded", codes), None);
    }
}
