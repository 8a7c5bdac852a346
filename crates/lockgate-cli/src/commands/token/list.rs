//! `lockgate token list`: whom a file lets in.

use clap::Args;
use lockgate::contract::approval::visible;
use lockgate::contract::ports::Clock as _;
use lockgate::contract::time::Timestamp;
use lockgate::host::clock::SystemClock;
use lockgate_server::tokens::{Token, TokenFile};

use super::TokensArgument;
use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::table::{Cell, Table};
use crate::render::text::cut;

/// List the tokens of a file: whom they let in, and until when
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// How the list is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    file: TokensArgument,
}

pub(super) fn execute(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    let tokens = TokenFile::read(&arguments.file.tokens)?.tokens;
    match arguments.format {
        Format::Human if tokens.is_empty() => output.note("no tokens\n"),
        Format::Human => output.text(&table(&tokens, SystemClock.now())),
        Format::Json => output.object(&tokens),
        Format::Jsonl => tokens.iter().for_each(|token| output.line(token)),
    }
    Ok(Exit::Ok)
}

fn table(tokens: &[Token], now: Timestamp) -> String {
    let mut table = Table::new(&["token", "of", "may", "expires", "note"]);
    for token in tokens {
        let who =
            token.agent.as_deref().map_or_else(|| token.user.clone(), |agent| format!("{agent} for {}", token.user));
        let words = |words: &std::collections::BTreeSet<String>| words.iter().cloned().collect::<Vec<_>>().join(" ");
        let may = match token.subject() {
            Some(subject) => format!("call, up to {} {}", subject.level, words(&token.scopes)),
            None => format!("decide {}", words(&token.roles)),
        };
        let expires = match token.expires_at {
            Some(at) if token.has_expired(now) => format!("{at} (over)"),
            Some(at) => at.to_string(),
            None => "never".to_owned(),
        };
        table.row([
            Cell::new(&token.id),
            Cell::new(cut(&visible(&format!("{who} of tenant {}", token.tenant)), 60)),
            Cell::new(cut(&visible(may.trim_end()), 60)),
            Cell::new(expires),
            Cell::new(cut(&visible(token.note.as_deref().unwrap_or_default()), 40)),
        ]);
    }
    table.render()
}
