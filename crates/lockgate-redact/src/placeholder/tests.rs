use super::*;

#[test]
fn blanks_templates_and_documented_keys_are_placeholders() {
    for value in [
        "",
        "  ",
        "***",
        "xxxxxxxx",
        "XXXX",
        "...",
        "-----",
        "•••",
        "${TOKEN}",
        "${{ secrets.TOKEN }}",
        "$TOKEN",
        "$(cat file)",
        "{{ token }}",
        "{token}",
        "<token>",
        "<your token here>",
        "%TOKEN%",
        "%s",
        "changeme",
        "ChangeMe",
        "null",
        "string",
        "your-api-key",
        "YOUR_API_KEY",
        "AKIAIOSFODNN7EXAMPLE",
    ] {
        assert!(is_placeholder(value), "{value}");
    }
}

#[test]
fn secrets_are_no_placeholders() {
    for value in [
        "hunter2",
        "pass",
        "x",
        "xx",
        "aaaaaaaa",
        "00000000",
        "$2b$10$abcdef",
        "p${x",
        "<a",
        "a>b",
        "your",
        "none1",
        "%",
        "AKIAQYLPMN5HNM6OWKBR",
    ] {
        assert!(!is_placeholder(value), "{value}");
    }
}

#[test]
fn a_prefix_with_filler_is_an_example() {
    assert!(is_example_token("ghp_xxxxxxxxxxxxxxxxxxxx"));
    assert!(is_example_token("sk-ant-XXXXXXXXXXXXXXXX"));
    assert!(!is_example_token("ghp_aaaaaaaaaaaaaaaaaaaa"));
    assert!(!is_example_token("ghp_a1b2c3d4e5f6g7h8ixxx"));
}
