use super::{Cell, Table};
use crate::render::style::GOOD;

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn columns_align_by_what_is_seen() {
    let mut table = Table::new(&["n", "name", "note"]);
    table.row([Cell::new("1"), Cell::styled(GOOD, "票号"), Cell::new("wide")]);
    table.row([Cell::new("10"), Cell::new("owner"), Cell::new("")]);
    table.row([Cell::new("100"), Cell::new(""), Cell::new("no name")]);
    let expected = "n    name   note\n1    票号   wide\n10   owner\n100         no name\n";
    assert_eq!(plain(&table.render()), expected);
}

#[test]
fn a_cell_stays_on_its_line() {
    let mut table = Table::new(&["name"]);
    table.row([Cell::new("a\nb\u{1b}[31m")]);
    assert_eq!(plain(&table.render()), "name\na\\u{a}b\\u{1b}[31m\n");
}
