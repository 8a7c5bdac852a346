use super::{in_a_sentence, nearest};

#[test]
fn a_slip_is_recognised() {
    let keys = ["effect", "scopes", "timeout"];
    assert_eq!(nearest("efect", keys), Some("effect"));
    assert_eq!(nearest("scope", keys), Some("scopes"));
    assert_eq!(nearest("tiemout", keys), Some("timeout"));
}

#[test]
fn the_nearest_of_several_wins() {
    assert_eq!(nearest("reason", ["reasons", "season", "reason"]), Some("reason"));
}

#[test]
fn another_word_is_not_taken_for_a_slip() {
    assert_eq!(nearest("colour", ["effect", "scopes", "timeout"]), None);
    assert_eq!(nearest("ask", ["deny", "allow"]), None);
}

#[test]
fn words_stand_in_a_sentence() {
    assert_eq!(in_a_sentence(&["a"]), "`a`");
    assert_eq!(in_a_sentence(&["a", "b", "c"]), "`a`, `b` and `c`");
}
