//! `lockgate explain`: the outcome table, in words.

use clap::Args;
use lockgate::contract::nearest::nearest;
use lockgate::contract::outcome::{Code, TABLE};

use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::outcome::{RowView, reasons, show, table};

/// Explain how a call can end
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lockgate explain
  lockgate explain approval_stale
  lockgate explain duplicate_key")]
pub(crate) struct Arguments {
    /// A code or a reason word; without one, all codes are listed
    code: Option<String>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn execute(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    let Some(typed) = &arguments.code else {
        match arguments.format {
            Format::Human => output.text(&table()),
            Format::Json => output.object(&TABLE.iter().map(RowView::of).collect::<Vec<_>>()),
            Format::Jsonl => TABLE.iter().for_each(|row| output.line(&RowView::of(row))),
        }
        return Ok(Exit::Ok);
    };
    let code = find(typed)?;
    match arguments.format {
        Format::Human => output.text(&show(code.row())),
        Format::Json => output.object(&RowView::of(code.row())),
        Format::Jsonl => output.line(&RowView::of(code.row())),
    }
    Ok(Exit::Ok)
}

/// The code, or the one that the reason word belongs to.
fn find(typed: &str) -> Result<Code, CliError> {
    let of_reason =
        || TABLE.iter().map(|row| row.code).find(|code| reasons(*code).iter().any(|(word, _)| *word == typed));
    Code::from_word(typed).or_else(of_reason).ok_or_else(|| CliError::NoSuchCode {
        code: typed.to_owned(),
        nearest: nearest(typed, TABLE.iter().map(|row| row.word)).map(str::to_owned),
    })
}
