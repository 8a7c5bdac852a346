//! The word that was probably meant.

/// The valid word nearest to a wrong one, if one is near enough to be meant.
pub(crate) fn nearest<'a>(wrong: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters, so that short words are not taken for each other.
    let near_enough = wrong.chars().count().div_ceil(3);
    valid
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(wrong, word), word))
        .filter(|(distance, _)| *distance <= near_enough)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Words in a sentence: "`a`, `b` and `c`".
pub(crate) fn in_a_sentence(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests;
