use super::{counted, cut, harmless, indented, labelled, one_line, padded, shell_word, styles_only, width};
use crate::render::style::{BAD, styled};

/// What a terminal obeys, reorders by or does not show: a title, a bell, a C1 command, backspace, a line overwritten, text
/// turned around, a word that is two, an invisible tag.
const HOSTILE: [char; 8] = ['\u{1b}', '\u{7}', '\u{9b}', '\u{8}', '\r', '\u{202e}', '\u{200b}', '\u{e0041}'];

#[test]
fn width_is_counted_in_columns() {
    assert_eq!(width("票号"), 4);
    assert_eq!(padded("票", 4), "票  ");
    assert_eq!(padded("longer", 3), "longer");
}

#[test]
fn a_long_line_ends_in_an_ellipsis() {
    assert_eq!(one_line("abcdef", 6), "abcdef");
    assert_eq!(one_line("abcdefg", 6), "abcde…");
    assert_eq!(one_line("票号票号", 6), "票号…");
    assert_eq!(one_line("a\nb", 20), "a\\u{a}b");
    // Cut first and made visible once, by whoever prints it.
    assert_eq!(cut("a\nb", 7), "a\nb");
    assert_eq!(cut("a\nbcd", 7), "a\n…");
    assert_eq!(one_line(&cut("a\u{202e}bcd", 10), 20), "a\\u{202e}…");
}

#[test]
fn an_answer_cannot_drive_the_terminal() {
    assert_eq!(harmless("a\tb\nc"), "a\tb\nc");
    assert_eq!(harmless("\u{1b}[2Jgone"), "\\u{1b}[2Jgone");
    assert_eq!(harmless("\u{202e}txt.exe"), "\\u{202e}txt.exe");
    assert_eq!(harmless("line\rover"), "line\\u{d}over");
}

#[test]
fn nothing_that_hides_stays_hidden() {
    for hostile in HOSTILE {
        let shown = format!("\\u{{{:x}}}", u32::from(hostile));
        let text = format!("a{hostile}b");
        assert_eq!(harmless(&text), format!("a{shown}b"));
        assert_eq!(harmless(&harmless(&text)), harmless(&text));
        assert_eq!(styles_only(&text), format!("a{shown}b"));
        assert!(labelled(BAD, "error:", &text).contains(&format!("a{shown}b")));
    }
}

#[test]
fn blanks_and_emoji_stay() {
    for text in ["10\u{a0}%", "\u{3000}票", "⚠\u{fe0f} look"] {
        assert_eq!(harmless(text), text);
    }
    assert_eq!(harmless("a\u{fe0f}⚠\u{fe0f}\u{fe0f}"), "a\\u{fe0f}⚠\u{fe0f}\\u{fe0f}");
}

#[test]
fn only_styles_reach_the_terminal() {
    let styled = styled(BAD, "error:");
    assert_eq!(styles_only(&styled), styled);
    assert_eq!(
        styles_only("\u{1b}]0;title\u{7}x\u{1b}[2Jy\u{1b}[1;31mz\u{1b}["),
        "\\u{1b}]0;title\\u{7}x\\u{1b}[2Jy\u{1b}[1;31mz\\u{1b}["
    );
}

#[test]
fn a_message_forges_no_line() {
    let lines = anstream::adapter::strip_str(&labelled(BAD, "error:", "`a\n  hint: run rm\r\nerror: b` is wrong\n"))
        .to_string();
    assert_eq!(lines, "error: `a\n         hint: run rm\n       error: b` is wrong\n");
}

#[test]
fn sentences() {
    assert_eq!(counted(1, "step"), "1 step");
    assert_eq!(counted(0, "step"), "0 steps");
    assert_eq!(indented("a\n\nb", 2), "  a\n\n  b\n");
}

#[test]
fn a_word_survives_the_shell() {
    assert_eq!(shell_word("sqlite:.lockgate/journal.db"), "sqlite:.lockgate/journal.db");
    assert_eq!(shell_word("my run.toml"), "'my run.toml'");
    assert_eq!(shell_word("it's"), r"'it'\''s'");
    assert_eq!(shell_word(""), "''");
    assert_eq!(shell_word("a\u{1b}[2J\nb\\c'd\u{202e}1"), r"$'a\U0000001b[2J\nb\\c\'d\U0000202e1'");
}
