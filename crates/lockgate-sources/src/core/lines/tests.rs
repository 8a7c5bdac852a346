use proptest::prelude::*;

use super::*;

fn seen(text: &str, first: u64, last: u64, limit: usize) -> SeenLines {
    let mut window = LineWindow::new(first, last, limit);
    window.feed(text.as_bytes());
    window.finish(true)
}

fn whole(text: &str, end_line: u64, total_lines: u64) -> SeenLines {
    SeenLines { text: text.into(), end_line, total_lines: Some(total_lines), ..SeenLines::default() }
}

#[test]
fn lines_are_counted_from_one_with_both_ends() {
    let text = "one\ntwo\r\nthree\nfour";
    assert_eq!(seen(text, 1, u64::MAX, 100), whole(text, 4, 4));
    assert_eq!(seen(text, 2, 3, 100), whole("two\r\nthree\n", 3, 4));
    assert_eq!(seen(text, 4, 9, 100), whole("four", 4, 4));
    assert_eq!(seen(text, 5, 9, 100), whole("", 4, 4));
}

#[test]
fn a_line_end_at_the_end_begins_no_line() {
    assert_eq!(seen("", 1, 9, 10), whole("", 0, 0));
    assert_eq!(seen("\n", 1, 9, 10), whole("\n", 1, 1));
    assert_eq!(seen("a\n\n", 1, 9, 10), whole("a\n\n", 2, 2));
}

#[test]
fn lines_that_do_not_fit_are_left_out_whole() {
    let cut = seen("aaaa\nbbbb\ncccc\n", 1, 9, 12);
    assert_eq!(cut, SeenLines { truncated: true, ..whole("aaaa\nbbbb\n", 2, 3) });
    // Exactly full is not truncated, and neither is what was not asked for.
    assert_eq!(seen("aaaa\nbbbb\n", 1, 9, 10), whole("aaaa\nbbbb\n", 2, 2));
    assert_eq!(seen("aaaa\nbbbb\ncccc\n", 1, 2, 10), whole("aaaa\nbbbb\n", 2, 3));
    // A short line after one that did not fit is not pulled forward.
    let cut = seen("a\nbbbbbbbbbb\nc\n", 1, 9, 8);
    assert_eq!(cut, SeenLines { truncated: true, ..whole("a\n", 1, 3) });
}

#[test]
fn a_first_line_that_does_not_fit_is_cut() {
    let cut = seen("ééééé\nb\n", 1, 9, 5);
    assert_eq!(cut, SeenLines { truncated: true, line_cut: true, ..whole("éé", 1, 2) });
    // The bytes held back at the cut do not look like a broken character.
    let cut = seen(&"🦀".repeat(50), 1, 1, 9);
    assert_eq!(cut, SeenLines { truncated: true, line_cut: true, ..whole("🦀🦀", 1, 1) });
}

#[test]
fn a_text_that_was_not_read_to_its_end_has_no_count() {
    let mut window = LineWindow::new(2, 9, 100);
    assert!(!window.reached());
    window.feed(b"a\n");
    assert!(!window.reached());
    window.feed(b"b\nhalf");
    assert!(window.reached());
    let expected = SeenLines { text: "b\n".into(), end_line: 2, truncated: true, ..SeenLines::default() };
    assert_eq!(window.finish(false), expected);
}

#[test]
fn the_half_of_a_first_line_is_marked_as_cut() {
    let mut window = LineWindow::new(1, 1, 100);
    window.feed(b"half");
    let expected =
        SeenLines { text: "half".into(), end_line: 1, truncated: true, line_cut: true, ..SeenLines::default() };
    assert_eq!(window.finish(false), expected);
}

proptest! {
    #[test]
    fn pieces_do_not_matter(text in "[ab\n\réß]{0,60}", first in 1_u64..8, more in 0_u64..8, limit in 1_usize..40, piece in 1_usize..9) {
        let mut window = LineWindow::new(first, first + more, limit);
        for piece in text.as_bytes().chunks(piece) {
            window.feed(piece);
        }
        prop_assert_eq!(window.finish(true), seen(&text, first, first + more, limit));
    }

    #[test]
    fn going_on_after_the_last_line_reads_everything(text in "[ab\n]{0,60}", limit in 1_usize..40) {
        let longest = text.split_inclusive('\n').map(str::len).max().unwrap_or(0);
        prop_assume!(longest <= limit);
        let mut read = String::new();
        let mut next = 1;
        loop {
            let seen = seen(&text, next, u64::MAX, limit);
            read.push_str(&seen.text);
            if !seen.truncated {
                break;
            }
            prop_assert!(seen.end_line >= next && !seen.line_cut);
            next = seen.end_line + 1;
        }
        prop_assert_eq!(read, text);
    }
}
