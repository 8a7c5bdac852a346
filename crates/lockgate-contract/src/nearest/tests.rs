use super::nearest;

#[test]
fn a_slip_is_recognised_and_another_word_is_not() {
    let codes = ["unknown_tool", "timed_out", "cancelled"];
    for (word, meant) in [
        ("unknwon_tool", Some("unknown_tool")),
        ("canceled", Some("cancelled")),
        ("Timed_out", Some("timed_out")),
        ("quota_exceeded", None),
        ("", None),
    ] {
        assert_eq!(nearest(word, codes), meant, "{word}");
    }
    assert_eq!(nearest("ask", ["all", "deny", "allow"]), None);
    assert_eq!(nearest("delete_incident", ["lookup_incident"]), None);
    assert_eq!(nearest("x", []), None);
}

#[test]
fn a_word_that_is_most_of_another_is_recognised() {
    let keys = ["call_timeout", "max_steps"];
    assert_eq!(nearest("timeout", keys), Some("call_timeout"));
    assert_eq!(nearest("steps", keys), Some("max_steps"));
    assert_eq!(nearest("call", keys), None);
    assert_eq!(nearest("", keys), None);
}

#[test]
fn the_fewest_slips_win_and_then_the_first() {
    assert_eq!(nearest("reason", ["season", "reasons", "reason"]), Some("reason"));
    assert_eq!(nearest("raed", ["road", "read", "reed"]), Some("read"));
    assert_eq!(nearest("bat", ["cat", "rat"]), Some("cat"));
}

#[test]
fn letters_are_counted_and_not_bytes() {
    assert_eq!(nearest("größe", ["grösse", "grüße", "größen"]), Some("grüße"));
    assert_eq!(nearest("日本", ["日本語", "中国"]), Some("日本語"));
    assert_eq!(nearest("日", ["本"]), None);
}

/// Found while fuzzing: two words of a megabyte each would be compared in a table of terabytes.
#[test]
fn huge_words_are_near_to_nothing() {
    let huge = "x".repeat(1 << 20);
    assert_eq!(nearest(&huge, ["xx", &huge[1..]]), None);
    assert_eq!(nearest("xx", [huge.as_str()]), None);
    assert_eq!(nearest(&"a".repeat(255), [&*"a".repeat(256)]), Some(&*"a".repeat(256)));
}
