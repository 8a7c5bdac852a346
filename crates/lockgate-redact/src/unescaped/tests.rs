use super::*;

fn undone(text: &str, escape: Escape) -> Option<String> {
    let undone = Unescaped::undo_in(text, escape)?;
    assert_eq!(undone.starts.len(), undone.bytes.len() + 1);
    Some(String::from_utf8(undone.bytes).unwrap())
}

#[test]
fn each_escape_is_undone() {
    for (escape, text, expected) in [
        (Escape::Percent, "p%22a%5Cs%2fs%0A%3C%C3%A9+%F0%9F%98%80", "p\"a\\s/s\n<é+😀"),
        (Escape::Form, "two+words%2B", "two words+"),
        (Escape::Backslash, r#"p\"a\\s\/s\n\u003c\u00e9\ud83d\ude00"#, "p\"a\\s/s\n<é😀"),
        (Escape::Backslash, r"\'\x3c\u{1F600}\b\f\r\t", "'<😀\u{8}\u{c}\r\t"),
        (Escape::Entity, "p&quot;a&lt;b&gt;&amp;&apos;&#39;&#x27;&#128512;", "p\"a<b>&'''😀"),
        (Escape::Backslash, r"\ud83d\u0041", r"\ud83dA"),
    ] {
        assert_eq!(undone(text, escape).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn what_is_no_escape_stays() {
    for (escape, text) in [
        (Escape::Percent, "100% %2 %zz %+1 é%"),
        (Escape::Form, "50%20"),
        (Escape::Backslash, r"C:\Users \ud83d \ud83d \udc00 \u12 \u{110000} \u{} \x1 \"),
        (Escape::Entity, "a & b; &unknown; &#; &#x; &#1114112; &#99999999999; &amp"),
    ] {
        assert_eq!(undone(text, escape), None, "{text}");
    }
}

#[test]
fn every_byte_knows_its_place() {
    let once = Unescaped::undo_in(r"é\u00e9%5C", Escape::Backslash).unwrap();
    let places: Vec<usize> = (0..=once.bytes.len()).map(|index| once.place(index)).collect();
    assert_eq!(places, [0, 1, 2, 2, 8, 9, 10, 11]);
    let twice = once.undo(Escape::Percent).unwrap();
    assert_eq!(twice.bytes, "éé\\".as_bytes());
    assert_eq!([twice.place(4), twice.place(5)], [8, 11]);
}
