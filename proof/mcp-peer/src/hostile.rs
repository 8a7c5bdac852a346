//! Servers that no crate would write: each breaks one rule of the protocol, or one hope of its callers, and keeps the others.
//!
//! They are written by hand, over stdio, on the lines themselves. A mode says what it does wrong; everything else is `polite`. They
//! end with their stdin, so that no test leaves one behind.

mod answers;
mod dying;
mod lines;
mod lists;
mod pages;
mod polite;
mod probes;
mod wire;

use std::path::PathBuf;

use crate::error::PeerError;
use crate::fixture::Era;
use wire::Wire;

/// What a server does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// Nothing: what the others are when they are not asked for trouble.
    Polite,

    /// Writes lines to stdout that are no messages: text, blanks, half of an object, bytes that are no UTF-8.
    Noise,
    /// Answers each call by one line of 10 MB, which is a right answer.
    HugeLine,
    /// Answers a call by a line that never ends, 64 KiB at a time.
    EndlessLine,
    /// Writes every answer a byte at a time, 20 a second.
    SlowDrip,
    /// Sends a thousand notifications before each answer.
    Flood,

    /// Lists its tools in pages that all name the same next one.
    SameCursor,
    /// Lists its tools in pages that never end, each with a next one that is new.
    NewCursors,
    /// Lists its tools in two pages; the cursor of the second is the empty text.
    EmptyCursor,

    /// Has two good tools, and one between them whose schema is none.
    BadSchema,
    /// Has a good tool, one whose references double thirty times, one that is nested ten thousand deep, and one with a schema of 5 MB.
    SchemaBomb,
    /// Has tools whose names are told apart by what other systems drop: punctuation, case, and what stands behind the 64th letter.
    Collisions,
    /// Has the same name twice.
    DuplicateNames,
    /// Describes a tool by what a model should do for it, in words and in letters that nobody sees.
    Poisoned,
    /// Has another description, schema and number of tools after its first call, and says so.
    Changing,

    /// Answers every request twice, differently.
    AnswerTwice,
    /// Answers the request after this one too, before anybody asked.
    EarlyAnswer,
    /// Asks its caller three things at once under one id, before it answers a call.
    DuplicateIds,
    /// Answers a request under an id that nobody asked with, and never under the right one.
    ForeignId,
    /// Reads, and never answers anything.
    Silent,
    /// Never answers a call.
    SilentCalls,
    /// Reports progress on a call for ever, and never answers it.
    ProgressForever,
    /// Asks for samples, answers of a person and roots, whether its caller has them or not, and says what it heard.
    AsksBack,
    /// Answers calls by results that the protocol does not have.
    OddResults,

    /// Ends when it is asked for the versions that it speaks. Older callers get on with it.
    DiesOnProbe,
    /// Says that a question for its versions has wrong arguments. Older callers get on with it.
    RefusesProbe,
    /// Does not answer a question for its versions. Older callers get on with it.
    SilentOnProbe,
    /// Takes the handshake, and says that it speaks the version without one.
    OddVersion,

    /// Has the effect of a call, and ends before it answers.
    DiesMidCall,
    /// Ends as soon as it was asked for its tools.
    DiesOnList,
    /// Does not end when its stdin does, nor when it is asked to by a signal.
    Stays,
}

/// A server that does one thing wrong.
#[derive(clap::Args, Clone, Debug)]
pub struct Hostile {
    /// What it does wrong.
    #[arg(value_enum)]
    mode: Mode,
    /// The versions of the protocol that it speaks.
    #[arg(long, value_enum, default_value_t)]
    era: Era,
    /// Has one byte for each call that had its effect.
    #[arg(long)]
    file: Option<PathBuf>,
}

impl Hostile {
    /// Serves on stdin and stdout until stdin ends.
    pub fn serve(&self) -> Result<(), PeerError> {
        let mut wire = Wire::new(self.mode == Mode::SlowDrip);
        let mut server = polite::Polite::new(self.era, self.file.clone());
        dying::begin(self.mode)?;
        lines::begin(self.mode, &mut wire)?;
        while let Some(message) = wire.next()? {
            let is_done = probes::answer(self.mode, &message, &mut wire)?
                || pages::answer(self.mode, &message, &mut wire)?
                || lists::answer(self.mode, &message, &mut server, &mut wire)?
                || dying::answer(self.mode, &message, &server)?
                || answers::answer(self.mode, &message, &mut server, &mut wire)?
                || lines::answer(self.mode, &message, &mut server, &mut wire)?;
            if !is_done {
                server.answer(&message, &mut wire)?;
            }
        }
        dying::end(self.mode);
        Ok(())
    }
}
