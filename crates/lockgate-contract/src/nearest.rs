//! What was probably meant by a mistyped word: for hints, never for deciding anything (names are matched exactly, R-020).

/// Nobody mistypes a word of more letters. Comparing two takes time and memory by the product of their lengths.
const LONGEST: usize = 256;

/// The candidate that is spelled most like a word, where one is near enough to be meant: at most a third of the letters are
/// wrong, or the word is most of it, as `timeout` is of `call_timeout`. Of equally near ones, the first.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let length = word.chars().count();
    let near = candidates.into_iter().filter_map(|candidate| {
        let other = candidate.chars().count();
        let most = candidate.contains(word) && 2 * length > other;
        let slips = length.max(other) / 3;
        // So many letters are missing at least.
        if length.max(other) > LONGEST || (length.abs_diff(other) > slips && !most) {
            return None;
        }
        let distance = strsim::damerau_levenshtein(word, candidate);
        (most || distance <= slips).then_some((distance, candidate))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests;
