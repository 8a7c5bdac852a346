//! Tables, aligned by what the reader sees.

use anstyle::Style;

use crate::render::style::{FAINT, PLAIN, styled};
use crate::render::text::{one_line, width};

/// Rows under names.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Debug)]
struct Column {
    name: &'static str,
    right: bool,
}

/// One cell: a text on one line, and how it looks.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

/// Longer cells are cut.
const WIDEST_CELL: usize = 100;

impl Cell {
    /// A text of anybody's: invisible characters are shown.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self::styled(PLAIN, text)
    }

    /// With a style.
    pub(crate) fn styled(style: Style, text: impl AsRef<str>) -> Self {
        Self {
            text: one_line(text.as_ref(), WIDEST_CELL),
            style,
        }
    }
}

impl Table {
    /// A table with these columns.
    pub(crate) fn new(columns: &[&'static str]) -> Self {
        Self {
            columns: columns.iter().map(|&name| Column { name, right: false }).collect(),
            rows: Vec::new(),
        }
    }

    /// A column of numbers stands at its right edge.
    pub(crate) fn right(mut self, name: &str) -> Self {
        for column in self.columns.iter_mut().filter(|column| column.name == name) {
            column.right = true;
        }
        self
    }

    /// Adds a row, one cell a column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Header and rows, two spaces between columns, nothing behind the last.
    pub(crate) fn render(&self) -> String {
        let header = self
            .columns
            .iter()
            .map(|column| Cell::styled(FAINT, column.name))
            .collect();
        let lines: Vec<Vec<Cell>> = std::iter::once(header).chain(self.rows.iter().cloned()).collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|column| {
                lines
                    .iter()
                    .filter_map(|line| line.get(column))
                    .map(|cell| width(&cell.text))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        lines.iter().map(|line| self.line(line, &widths)).collect()
    }

    fn line(&self, cells: &[Cell], widths: &[usize]) -> String {
        let last = cells
            .iter()
            .rposition(|cell| !cell.text.is_empty())
            .map_or(0, |at| at + 1);
        let mut line = String::new();
        for (at, cell) in cells.iter().take(last).enumerate() {
            let room = widths[at].saturating_sub(width(&cell.text));
            let right = self.columns[at].right;
            if right {
                line.push_str(&" ".repeat(room));
            }
            line.push_str(&styled(cell.style, &cell.text));
            if at + 1 < last {
                line.push_str(&" ".repeat(if right { 2 } else { room + 2 }));
            }
        }
        line.push('\n');
        line
    }
}

#[cfg(test)]
mod tests;
