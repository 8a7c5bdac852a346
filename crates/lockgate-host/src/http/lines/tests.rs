use super::*;

fn lines(text: &str, cut: usize) -> Vec<String> {
    let mut lines = Lines::default();
    let mut found = Vec::new();
    for mut piece in text.as_bytes().chunks(cut) {
        while let Some(line) = lines.next(&mut piece) {
            found.push(line);
        }
        assert!(piece.is_empty());
    }
    found.push(lines.rest());
    found.into_iter().map(|line| String::from_utf8(line).unwrap()).collect()
}

#[test]
fn lines_are_the_same_however_the_bytes_are_cut() {
    let text = "\u{feff}é\r\n\rb\n\n\u{feff}c\r";
    for cut in 1..=text.len() {
        assert_eq!(lines(text, cut), ["é", "", "b", "", "\u{feff}c", ""], "in pieces of {cut}");
    }
}

#[test]
fn a_line_without_an_end_is_told_by_its_length() {
    let mut lines = Lines::default();
    assert_eq!(lines.next(&mut b"abc".as_slice()), None);
    assert_eq!((lines.unended(), lines.rest(), lines.unended()), (3, b"abc".to_vec(), 0));
}
