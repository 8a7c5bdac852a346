//! Tables, aligned by what the reader sees.

use anstyle::Style;

use crate::render::style::{FAINT, PLAIN, styled};
use crate::render::text::{one_line, width};

/// Rows under names.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
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
        Self { text: one_line(text.as_ref(), WIDEST_CELL), style }
    }
}

impl Table {
    /// A table with these columns.
    pub(crate) fn new(columns: &[&'static str]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row, one cell a column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether it has no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Header and rows, two spaces between columns, nothing behind the last.
    pub(crate) fn render(&self) -> String {
        let header: Vec<Cell> = self.columns.iter().map(|name| Cell::styled(FAINT, name)).collect();
        let lines: Vec<&Vec<Cell>> = std::iter::once(&header).chain(&self.rows).collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| lines.iter().filter_map(|line| line.get(at)).map(|cell| width(&cell.text)).max().unwrap_or(0))
            .collect();
        lines.iter().map(|cells| line(cells, &widths)).collect()
    }
}

fn line(cells: &[Cell], widths: &[usize]) -> String {
    let last = cells.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |at| at + 1);
    let mut line = String::new();
    for (at, (cell, columns)) in cells.iter().zip(widths).take(last).enumerate() {
        line.push_str(&styled(cell.style, &cell.text));
        if at + 1 < last {
            line.push_str(&" ".repeat(columns.saturating_sub(width(&cell.text)) + 2));
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests;
