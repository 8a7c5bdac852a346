use lockgate_contract::document::Limits;
use proptest::prelude::*;

use super::*;

fn shown(shortened: &Shortened) -> String {
    shortened.data.root().as_str().unwrap().into_owned()
}

/// What of the whole text is shown: the head and the tail around the notice.
fn kept(shortened: &Shortened) -> (String, String) {
    let shown = shown(shortened);
    let notice = notice(usize::try_from(shortened.truncated_bytes).unwrap(), &shortened.artifact.artifact_id);
    match shown.split_once(&notice) {
        Some((head, tail)) => (head.to_owned(), tail.to_owned()),
        None => (String::new(), String::new()),
    }
}

fn assert_exact(text: &str, max_bytes: usize) {
    let Some(shortened) = shorten(&Document::string(text), OutputForm::Value, max_bytes) else {
        assert!(max_bytes == 0 || text.len() <= max_bytes, "{} bytes pass a limit of {max_bytes}", text.len());
        return;
    };
    let (head, tail) = kept(&shortened);
    assert!(shown(&shortened).len() <= max_bytes, "{max_bytes}: {}", shown(&shortened));
    assert!(text.starts_with(&head) && text.ends_with(&tail)); // Z-11
    assert_eq!(head.len() + tail.len() + usize::try_from(shortened.truncated_bytes).unwrap(), text.len());
    let characters = head.chars().count() + tail.chars().count();
    assert_eq!(characters + usize::try_from(shortened.truncated_chars).unwrap(), text.chars().count());
    assert_eq!(shortened.artifact.text, text); // The whole is kept.
}

#[test]
fn what_fits_is_left_alone() {
    for text in ["", "a", "ünï", &"x".repeat(1000)] {
        assert!(shorten(&Document::string(text), OutputForm::Value, text.len().max(1)).is_none(), "{text}"); // Z-05
        assert!(shorten(&Document::string(text), OutputForm::Value, 0).is_none(), "{text}"); // Z-10
    }
    // The quotes and escapes of a string are not part of what it says.
    let escaped = "\u{1}\"\\\n".repeat(100);
    assert!(shorten(&Document::string(&escaped), OutputForm::Value, escaped.len()).is_none());
    assert!(shorten(&Document::string(&escaped), OutputForm::Value, escaped.len() - 1).is_some());
}

#[test]
fn every_limit_around_the_notice_holds() {
    let text = "añ€😀".repeat(100);
    for max_bytes in 0..text.len() + 2 {
        assert_exact(&text, max_bytes);
    }
}

#[test]
fn a_notice_that_does_not_fit_is_a_mark() {
    let text = "x".repeat(500);
    for (max_bytes, mark) in [(1, ""), (2, ""), (3, "…"), (40, "…")] {
        let shortened = shorten(&Document::string(&text), OutputForm::Value, max_bytes).unwrap();
        assert_eq!((&*shown(&shortened), shortened.truncated_bytes), (mark, 500));
    }
}

#[test]
fn anything_but_a_string_is_cut_as_its_json() {
    let json = format!("{{ \"list\" : [ {} ] }}", vec!["\"😀\""; 400].join(" , "));
    let document = Document::parse(&*json, Limits::OUTPUT).unwrap();
    assert!(shorten(&document, OutputForm::Value, json.len()).is_none());
    let shortened = shorten(&document, OutputForm::Value, 500).unwrap();
    let (head, tail) = kept(&shortened);
    assert!(json.starts_with(&head) && json.ends_with(&tail) && head.len() > tail.len() && !tail.is_empty());
    assert_eq!(shortened.artifact.text, json);
}

#[test]
fn one_text_has_one_handle() {
    let one = shorten(&Document::string(&"a".repeat(500)), OutputForm::Value, 200).unwrap();
    let again = shorten(&Document::string(&"a".repeat(500)), OutputForm::Value, 300).unwrap();
    let other = shorten(&Document::string(&"b".repeat(500)), OutputForm::Value, 200).unwrap();
    assert_eq!(one.artifact.artifact_id, again.artifact.artifact_id);
    assert_ne!(one.artifact.artifact_id, other.artifact.artifact_id);
}

proptest! {
    #[test]
    fn head_notice_and_tail_make_the_whole(text in "(?s).{0,400}", max_bytes in 0_usize..1200) {
        assert_exact(&text, max_bytes);
    }
}
