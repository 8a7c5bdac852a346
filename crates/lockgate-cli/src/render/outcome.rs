//! A row of the outcome table, for people and for programs.

use std::fmt::Write as _;

use lockgate::contract::document::Fault;
use lockgate::contract::outcome::{Code, Row, TABLE};
use serde::Serialize;

use crate::render::style::{FAINT, HEADING, NAME, styled};
use crate::render::table::{Cell, Table};

/// A row as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct RowView {
    code: &'static str,
    stage: &'static str,
    status: &'static str,
    effect_state: &'static str,
    retryable: &'static str,
    model_text: &'static str,
    meaning: &'static str,
    remedy: &'static str,
    reasons: Vec<&'static str>,
}

impl RowView {
    pub(crate) fn of(row: &Row) -> Self {
        Self {
            code: row.word,
            stage: row.stage,
            status: row.status.word(),
            effect_state: row.effect.words(),
            retryable: row.retry.words(),
            model_text: row.model_text,
            meaning: row.meaning,
            remedy: row.remedy,
            reasons: reasons(row.code).into_iter().map(|(word, _)| word).collect(),
        }
    }
}

/// The words that say more about a code, and what they mean. Of `unknown_tool` only the audit has them.
pub(crate) fn reasons(code: Code) -> Vec<(&'static str, String)> {
    match code {
        Code::InvalidArguments => {
            let faults = Fault::ALL.into_iter().map(|fault| (fault.word(), fault.to_string()));
            let more = [
                ("not_an_object", "the text is JSON, but no object"),
                ("schema", "the arguments do not match the tool's input schema"),
            ];
            faults.chain(more.map(|(word, meaning)| (word, meaning.to_owned()))).collect()
        }
        Code::UnknownTool => [
            ("not_registered", "no tool has this name"),
            ("not_allowed", "the tool exists, and this run may not use it"),
            ("revoked", "the tool was taken back"),
            ("quarantined", "the tool waits for an operator"),
        ]
        .map(|(word, meaning)| (word, meaning.to_owned()))
        .into(),
        _ => Vec::new(),
    }
}

/// Everything about one code.
pub(crate) fn show(row: &Row) -> String {
    let mut text = format!("{}\n  {}\n\n", styled(HEADING, row.word), row.meaning);
    let facts = [
        ("decided in", row.stage),
        ("counts as", row.status.word()),
        ("effect", row.effect.words()),
        ("retry", row.retry.words()),
        ("the model", row.model_text),
        ("to do", row.remedy),
    ];
    for (name, value) in facts {
        let _ = writeln!(text, "  {}  {value}", styled(FAINT, format_args!("{name:<10}")));
    }
    let reasons = reasons(row.code);
    if !reasons.is_empty() {
        text.push_str("\n  reasons\n");
        for (word, meaning) in reasons {
            let _ = writeln!(text, "    {}  {meaning}", styled(NAME, format_args!("{word:<19}")));
        }
    }
    text
}

/// The whole table.
pub(crate) fn table() -> String {
    let mut table = Table::new(&["code", "counts as", "meaning"]);
    for row in TABLE {
        table.row([Cell::styled(NAME, row.word), Cell::new(row.status.word()), Cell::new(row.meaning)]);
    }
    table.render()
}

#[cfg(test)]
mod tests;
