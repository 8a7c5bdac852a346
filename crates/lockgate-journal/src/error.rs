//! Why a journal cannot be opened.

use std::path::PathBuf;

use lockgate_contract::ports::JournalError;
use thiserror::Error;

/// What a URL may begin with.
#[cfg(not(feature = "postgres"))]
const KNOWN: &str = "`sqlite:PATH` and `memory:` are known";
#[cfg(feature = "postgres")]
const KNOWN: &str = "`sqlite:PATH`, `postgres://HOST/DATABASE` and `memory:` are known";

/// Why a journal cannot be opened. The message says what and where; [`OpenError::hint`] says what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OpenError {
    /// The URL has no scheme.
    #[error("the journal's URL does not say what kind of journal it is: {KNOWN}")]
    NoScheme,
    /// The URL has another scheme.
    #[error("`{0}:` is not a kind of journal that this program knows: {KNOWN}")]
    UnknownScheme(String),
    /// `sqlite:` alone.
    #[error("the journal's URL `sqlite:` names no file")]
    NoPath,
    /// `memory:` with something behind it, or SQLite's own word for it.
    #[error("a journal in memory has no path")]
    MemoryWithPath,
    /// There is something, but not a file.
    #[error("`{}` is not a file", .0.display())]
    NotAFile(PathBuf),
    /// The folder or the file cannot be made, read or written.
    #[error("cannot {action} `{}`: {cause}", path.display())]
    Access {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the operating system or SQLite said.
        cause: String,
    },
    /// The file or the database holds something else.
    #[error("`{journal}` is not a Lockgate journal: {cause}")]
    NotAJournal {
        /// The file, or the database's URL without its password.
        journal: String,
        /// What it is instead.
        cause: String,
    },
    /// A migration in the journal is not the one that this program knows under its number.
    #[error("`{journal}` was made by another build: its migration {version} differs from the one of this program")]
    OtherMigration {
        /// The file, or the database's URL without its password.
        journal: String,
        /// The number of the migration.
        version: u32,
    },
    /// SQLite does not do what durability needs.
    #[error("`{}` does not keep what it promises: {setting} is `{found}` instead of `{wanted}`", path.display())]
    Setting {
        /// The file.
        path: PathBuf,
        /// Which setting.
        setting: &'static str,
        /// What was read back.
        found: String,
        /// What was asked for.
        wanted: &'static str,
    },
    /// The URL of a database cannot be read.
    #[error("the journal's URL cannot be read: {cause}")]
    Url {
        /// What is wrong with it.
        cause: String,
    },
    /// The URL asks for a connection that is encrypted.
    #[error("the journal's URL demands an encrypted connection (`sslmode`), and this program cannot make one yet")]
    Encryption,
    /// A tenant of this name would see nothing, or everything.
    #[error("`{0}` is no tenant's name")]
    Tenant(String),
    /// The database cannot be reached, or lets nobody in.
    #[error("cannot connect to `{journal}`: {cause}")]
    Connect {
        /// The database's URL without its password.
        journal: String,
        /// What the operating system or the server said.
        cause: String,
    },
    /// The database server does not do what the journal needs.
    #[error("`{journal}` cannot keep a journal: {setting} is `{found}` instead of `{wanted}`")]
    Server {
        /// The database's URL without its password.
        journal: String,
        /// Which setting.
        setting: &'static str,
        /// What was read back.
        found: String,
        /// What is needed.
        wanted: &'static str,
    },
    /// The journal was read and refused; [`JournalError::TooNew`] most of all.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl OpenError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoScheme | Self::UnknownScheme(_) | Self::NoPath => {
                "write `sqlite:.lockgate/journal.db`, or another path after `sqlite:`"
            }
            Self::MemoryWithPath => {
                "write `memory:` for a journal that is gone with the process, `memory:1000` for one that keeps so many runs that ended, or `sqlite:PATH` to keep it"
            }
            Self::NotAFile(_) => "name a file: in a folder, `sqlite:FOLDER/journal.db`",
            Self::Access { .. } => "choose a place on a local disk in which you may write, or change its permissions",
            Self::NotAJournal { .. } => "nothing was changed; choose another path, or move that file away",
            Self::OtherMigration { .. } => "use the build that made it, or another journal",
            Self::Setting { .. } => "keep the journal on a local file system: network file systems cannot do this",
            Self::Url { .. } => "write `postgres://USER:PASSWORD@HOST:PORT/DATABASE`",
            Self::Encryption => {
                "without `sslmode` the connection is not encrypted: use a Unix socket, the loopback, or a tunnel"
            }
            Self::Tenant(_) => "name the tenant, or leave it out for a journal that sees all of them",
            Self::Connect { .. } => "see whether the server runs, and whether the role and the database exist",
            Self::Server { .. } => "change the server's setting, or use another server",
            Self::Journal(JournalError::TooNew { .. }) => "install the newer version, or use another journal",
            Self::Journal(_) => "see whether another program holds the journal, and try again",
        }
    }
}
