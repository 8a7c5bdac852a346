//! The journal as a command finds it: opened where it exists, and its runs and approvals by what a person types.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use lockgate::assembly::open_journal;
use lockgate::config::DEFAULT_JOURNAL;
use lockgate::contract::approval::Approval;
use lockgate::contract::event::Event;
use lockgate::contract::ids::{ApprovalId, CallId, RunId};
use lockgate::contract::ports::{ApprovalFilter, Journal, RunFilter};
use lockgate::harness::RunState;
use lockgate::host::files;
use lockgate::journal::{SigningJournal, SigningKey};

use crate::error::CliError;
use crate::render::run::Commands;

/// Which journal.
#[derive(Debug, Clone, Args)]
pub(crate) struct JournalArgument {
    /// The journal: `sqlite:PATH`, relative to the working directory [default: sqlite:.lockgate/journal.db]
    #[arg(long, value_name = "URL")]
    pub(crate) journal: Option<String>,
}

/// An open journal under its URL.
pub(crate) struct Stored {
    pub(crate) url: String,
    pub(crate) journal: Arc<dyn Journal>,
    /// Whether what is decided through it is signed.
    pub(crate) signs: bool,
}

/// The variable that names the file with the key that signs what the command decides.
const SIGN_KEY_FILE: &str = "LOCKGATE_SIGN_KEY_FILE";

impl Stored {
    /// Opens a journal that exists. Looking at a journal makes none.
    pub(crate) fn open(url: Option<&str>) -> Result<Self, CliError> {
        let url = url.unwrap_or(DEFAULT_JOURNAL).to_owned();
        if !exists(&url) {
            return Err(CliError::NoJournal(url));
        }
        Self::of(url)
    }

    fn of(url: String) -> Result<Self, CliError> {
        let journal = open_journal(&url)?;
        let Some(path) = std::env::var_os(SIGN_KEY_FILE).map(PathBuf::from) else {
            return Ok(Self { url, journal, signs: false });
        };
        let text = files::read_to_string(&path).map_err(|cause| CliError::File { path: path.clone(), cause })?;
        let key = SigningKey::parse(&text).map_err(|cause| CliError::Key { path, cause })?;
        Ok(Self { url, journal: Arc::new(SigningJournal::new(journal, Arc::new(key))), signs: true })
    }

    /// Opens a journal, and makes it where there is none.
    pub(crate) fn open_or_make(url: Option<&str>) -> Result<Self, CliError> {
        let url = url.unwrap_or(DEFAULT_JOURNAL).to_owned();
        Self::of(url)
    }

    /// The runs that were named, or all of them; oldest first.
    pub(crate) async fn runs(&self, named: &[String]) -> Result<Vec<RunId>, CliError> {
        let mut ids: Vec<RunId> = Vec::new();
        if named.is_empty() {
            let all = RunFilter { limit: u32::MAX, ..RunFilter::default() };
            ids.extend(self.journal.runs(all).await?.into_iter().rev().map(|run| run.run_id));
        }
        for typed in named {
            let id = self.find_run(typed).await?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// Opens a journal that another process can have, too.
    pub(crate) fn open_kept(url: Option<&str>) -> Result<Self, CliError> {
        refuse_memory(url)?;
        Self::open(url)
    }

    /// The commands that go on from here.
    pub(crate) fn commands(&self) -> Commands {
        commands(&self.url)
    }

    /// The run with this id, or the only one whose id begins so.
    pub(crate) async fn find_run(&self, typed: &str) -> Result<RunId, CliError> {
        let id = RunId::new(typed);
        if self.journal.run(&id).await?.is_some() {
            return Ok(id);
        }
        let runs = self.journal.runs(RunFilter { limit: u32::MAX, ..RunFilter::default() }).await?;
        let ids: Vec<RunId> = runs.into_iter().map(|run| run.run_id).collect();
        Ok(only("run", typed, &ids)?.clone())
    }

    /// The call with this id, and its run. The start of the run's id is enough.
    pub(crate) async fn find_call(&self, typed: &str) -> Result<(RunId, CallId), CliError> {
        let unknown = || CliError::NotFound { thing: "call", id: typed.to_owned() };
        let (run, place) = typed.split_once(':').ok_or_else(unknown)?;
        let run = self.find_run(run).await?;
        let (_, state) = self.state(&run).await?;
        let call_id = CallId::new(format!("{run}:{place}"));
        let known = state.calls().any(|call| call.call_id == call_id);
        if known { Ok((run, call_id)) } else { Err(unknown()) }
    }

    /// The approval with this id, or the only one whose id begins so.
    pub(crate) async fn find_approval(&self, typed: &str) -> Result<Approval, CliError> {
        if let Some(approval) = self.journal.approval(&ApprovalId::new(typed)).await? {
            return Ok(approval);
        }
        let approvals = self.journal.approvals(ApprovalFilter::default()).await?;
        let ids: Vec<&str> = approvals.iter().map(|approval| approval.approval_id.as_str()).collect();
        let id = *only("approval", typed, &ids)?;
        approvals
            .iter()
            .find(|approval| approval.approval_id.as_str() == id)
            .cloned()
            .ok_or_else(|| CliError::NotFound { thing: "approval", id: typed.to_owned() })
    }

    /// A run as its events make it.
    pub(crate) async fn state(&self, run: &RunId) -> Result<(Vec<Event>, RunState), CliError> {
        let events = self.journal.events(run, 0).await?;
        let state = RunState::fold(&events).map_err(CliError::fold(run))?;
        Ok((events, state))
    }
}

/// The commands for runs of this journal.
pub(crate) fn commands(url: &str) -> Commands {
    Commands { journal: (url != DEFAULT_JOURNAL).then(|| without_password(url)) }
}

/// A journal's URL as it may be shown: whoever types it again has the password elsewhere.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (rest, parameters) = rest.split_once('?').map_or((rest, None), |(rest, parameters)| (rest, Some(parameters)));
    // A password may hold an `@`, a host cannot.
    let shown = match rest.rsplit_once('@') {
        Some((somebody, place)) => format!("{}@{place}", somebody.split(':').next().unwrap_or_default()),
        None => rest.to_owned(),
    };
    let kept: Vec<&str> =
        parameters.into_iter().flat_map(|all| all.split('&')).filter(|one| !one.starts_with("password=")).collect();
    let parameters = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    format!("{scheme}://{shown}{parameters}")
}

/// What is in memory is gone before anybody else could have it.
pub(crate) fn refuse_memory(url: Option<&str>) -> Result<(), CliError> {
    if url == Some("memory:") { Err(CliError::InMemory) } else { Ok(()) }
}

/// Whether there is such a journal already. What is no file at all is for the journal to judge.
fn exists(url: &str) -> bool {
    url.strip_prefix("sqlite:").is_none_or(|path| path.is_empty() || files::is_there(Path::new(path)).unwrap_or(true))
}

/// The only id that begins with what was typed; the words `run-` and `apr-` may be left out.
fn only<'i, T: AsRef<str>>(thing: &'static str, typed: &str, ids: &'i [T]) -> Result<&'i T, CliError> {
    let fits = |id: &str| id.starts_with(typed) || id.split_once('-').is_some_and(|(_, rest)| rest.starts_with(typed));
    let found: Vec<&T> = ids.iter().filter(|id| !typed.is_empty() && fits(id.as_ref())).collect();
    match found.as_slice() {
        [] => Err(CliError::NotFound { thing, id: typed.to_owned() }),
        [only] => Ok(only),
        several => Err(CliError::Ambiguous {
            thing,
            id: typed.to_owned(),
            candidates: several.iter().take(5).map(|id| id.as_ref().to_owned()).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{only, without_password};
    use crate::error::CliError;

    const IDS: [&str; 3] = ["run-34c559713956", "run-34d000000000", "run-ffff00000000"];

    #[test]
    fn the_start_of_an_id_is_enough_where_it_is_the_only_one() {
        assert!(matches!(only("run", "run-34c", &IDS), Ok(&"run-34c559713956")));
        assert!(matches!(only("run", "ff", &IDS), Ok(&"run-ffff00000000")));
    }

    #[test]
    fn a_password_is_not_shown() {
        for (url, shown) in [
            ("sqlite:a@b:c", "sqlite:a@b:c"),
            ("postgres://db/lockgate", "postgres://db/lockgate"),
            ("postgres://app@db/lockgate", "postgres://app@db/lockgate"),
            ("postgres://app:se@c:ret@db:5432/lockgate", "postgres://app@db:5432/lockgate"),
            ("postgres://db/l?password=secret&connect_timeout=2", "postgres://db/l?connect_timeout=2"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn what_fits_several_or_none_is_refused() {
        let several = only("run", "run-34", &IDS);
        assert!(matches!(several, Err(CliError::Ambiguous { candidates, .. }) if candidates == IDS[..2]));
        assert!(matches!(only("run", "run-0", &IDS), Err(CliError::NotFound { .. })));
        assert!(matches!(only("run", "", &IDS[..1]), Err(CliError::NotFound { .. })));
    }
}
