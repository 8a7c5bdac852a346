use super::{counted, cut, harmless, indented, one_line, padded, shell_word, width};

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
}
