//! Texts that stand where a secret would: templates, blanks, and the test keys that vendors print in their manuals.

/// Keys that vendors publish in their documentation; they open nothing.
const DOCUMENTED: &[&str] = &[
    "AKIAIOSFODNN7EXAMPLE",
    "AKIAI44QH8DHBEXAMPLE",
    "ASIAIOSFODNN7EXAMPLE",
    concat!("wJalrXUtnFEMI/K7MDENG", "/bPxRfiCYEXAMPLEKEY"),
    concat!("sk_test_", "4eC39HqLyjWDarjtT1zdp7dc"),
    concat!("sk_test_", "BQokikJOvBiI2HlWgH4olfQ2"),
];

/// Words that say "put a secret here" or "there is none".
const WORDS: &[&str] = &[
    "changeme",
    "change-me",
    "change_me",
    "false",
    "hidden",
    "masked",
    "n/a",
    "nil",
    "none",
    "null",
    "optional",
    "placeholder",
    "redacted",
    "required",
    "str",
    "string",
    "tbd",
    "todo",
    "true",
    "undefined",
    "unset",
];

/// Whether a value is a blank, a template or a documented example, and so may stay.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    value.is_empty()
        || is_filler(value)
        || is_template(value)
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || starts_with_ignoring_case(value, "your-")
        || starts_with_ignoring_case(value, "your_")
        || starts_with_ignoring_case(value, "your ")
        || is_documented(value)
}

/// Whether a token is a vendor's example, or a prefix with nothing but filler behind it (`ghp_xxxxxxxx`).
pub(crate) fn is_example_token(token: &str) -> bool {
    let filler = token.trim_start_matches(|letter: char| !matches!(letter, 'x' | 'X' | '*' | '.'));
    is_documented(token) || (filler.len() * 2 >= token.len() && is_filler(filler))
}

fn is_documented(value: &str) -> bool {
    DOCUMENTED.contains(&value)
}

/// One character over and over, out of those that people draw blanks with; at least three.
fn is_filler(value: &str) -> bool {
    let mut bytes = value.bytes();
    let Some(first) = bytes.next() else { return false };
    let repeats = bytes.filter(|&byte| byte == first).count();
    if repeats + 1 == value.len() {
        return value.len() >= 3 && matches!(first, b'x' | b'X' | b'*' | b'.' | b'-' | b'_' | b'#');
    }
    value.len() >= 3 && value.chars().all(|letter| letter == '•' || letter == '…')
}

/// `${NAME}`, `$NAME`, `$(command)`, `{{ name }}`, `{name}`, `<name>`, `%NAME%`, `%s`.
fn is_template(value: &str) -> bool {
    let name = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' ' | b':'))
    };
    let wrapped = |open: &str, close: &str| {
        value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).is_some_and(|inner| !inner.contains(open))
    };
    wrapped("${", "}")
        || wrapped("$(", ")")
        || wrapped("{", "}")
        || wrapped("{{", "}}")
        || wrapped("<", ">")
        || value
            .strip_prefix('$')
            .is_some_and(|rest| !rest.starts_with(|first: char| first.is_ascii_digit()) && name(rest))
        || value.strip_prefix('%').and_then(|rest| rest.strip_suffix('%')).is_some_and(name)
        || matches!(value, "%s" | "%v" | "%q" | "%@")
}

fn starts_with_ignoring_case(value: &str, prefix: &str) -> bool {
    value.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

#[cfg(test)]
mod tests;
