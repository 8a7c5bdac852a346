//! `lockgate approvals watch`: a page for a person who watches several runs.

use std::cell::RefCell;
use std::fmt::{Display, Write as _};
use std::io;
use std::time::Duration;

use anstream::adapter::strip_str;
use clap::Args;
use lockgate::contract::approval::ApprovalState;
use lockgate::contract::ids::ApprovalId;
use lockgate::contract::ports::{ApprovalFilter, Clock as _};
use lockgate::deciding::before;
use lockgate::host::clock::SystemClock;
use ratatui::crossterm::event::Event;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::commands::TO_BE_TOLD;
use crate::deciding::{self, Answer, Decided};
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::approval::decided;
use crate::signals::Signals;
use crate::stored::{JournalArgument, Stored};
use crate::watch::{Decision, News, Page, Question, Screen, Shown, Wish, is_there};

/// How often the list is read, and the countdown goes on.
const PULSE: Duration = Duration::from_secs(1);

/// Watch the questions of all runs on a page of the terminal, and decide them there
#[derive(Debug, Args)]
#[command(after_help = "\
Keys: arrows or j/k move, a approves, d denies, w withdraws, ? shows all of them, q quits.
Each decision asks for a second key. Nothing runs by it: resuming the run does, or a worker.")]
pub(super) struct Arguments {
    #[command(flatten)]
    journal: JournalArgument,
}

pub(super) async fn execute(arguments: Arguments) -> Result<Exit, CliError> {
    if !is_there() {
        return Err(CliError::NoTerminal);
    }
    let stored = Stored::open_kept(arguments.journal.journal.as_deref())?;
    let mut signals = Signals::listen().map_err(CliError::Terminal)?;
    let mut desk = Desk { stored, told: JoinSet::new() };
    let mut screen = Screen::take().map_err(CliError::Terminal)?;
    let ended = watch(&mut desk, &mut screen, &mut signals).await;
    // The terminal is given back before anybody is waited for.
    drop(screen);
    while desk.told.join_next().await.is_some() {}
    ended.map_err(CliError::Terminal)
}

/// Goes on until somebody quits, or a signal ends it.
async fn watch(desk: &mut Desk, screen: &mut Screen, signals: &mut Signals) -> io::Result<Exit> {
    let mut page = Page::default();
    let mut pulse = interval(PULSE);
    pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let event = tokio::select! {
            biased;
            () = signals.next() => return Ok(Exit::Cancelled),
            event = screen.next() => Some(event?),
            _ = pulse.tick() => None,
        };
        if event.is_none() && !is_there() {
            // It was closed, and whoever closed it told nobody.
            return Ok(Exit::Cancelled);
        }
        page.hear(News::Clock(SystemClock.now()));
        let mut wish = match event {
            Some(Event::Key(key)) => page.hear(News::Key(key)),
            Some(Event::Paste(text)) => page.hear(News::Pasted(text)),
            Some(_) => None,
            None => Some(Wish::List),
        };
        while let Some(wished) = wish {
            let news = if let Wish::Decide(decision) = wished {
                screen.draw(|frame| page.draw(frame))?;
                // It is never broken off: whether it was taken would not be known.
                let news = desk.decide(decision).await.unwrap_or_else(|error| failed(&error));
                screen.forget_keys();
                news
            } else if wished == Wish::Quit {
                return Ok(Exit::Ok);
            } else {
                tokio::select! {
                    biased;
                    () = signals.next() => return Ok(Exit::Cancelled),
                    news = desk.read(wished) => news,
                }
            };
            wish = page.hear(news);
        }
        screen.draw(|frame| page.draw(frame))?;
    }
}

/// The journal, and those who are being told of decisions.
struct Desk {
    stored: Stored,
    told: JoinSet<()>,
}

impl Desk {
    async fn read(&self, wish: Wish) -> News {
        let read = match wish {
            Wish::Show(id) => self.show(&id).await,
            _ => self.list().await,
        };
        read.unwrap_or_else(|error| failed(&error))
    }

    async fn list(&self) -> Result<News, CliError> {
        let filter = ApprovalFilter { state: Some(ApprovalState::Pending), ..ApprovalFilter::default() };
        let open = self.stored.journal.approvals(filter).await?;
        Ok(News::Listed(open.iter().map(Question::of).collect()))
    }

    async fn show(&self, id: &ApprovalId) -> Result<News, CliError> {
        let Some(approval) = self.stored.journal.approval(id).await? else {
            return Ok(News::Shown(Box::new(None)));
        };
        let before = before(&*self.stored.journal, &approval).await?;
        Ok(News::Shown(Box::new(Some(Shown { approval, before }))))
    }

    /// Reads the question again, and decides it if it is still the one that was shown.
    async fn decide(&mut self, decision: Decision) -> Result<News, CliError> {
        let Decision { id, digest, state, reason, .. } = decision;
        let known = self.stored.journal.approval(&id).await?;
        let Some(approval) = known.filter(|approval| approval.digest == digest) else {
            return Ok(News::Failed(format!(
                "{id} is another question than the one that was shown: nothing was decided"
            )));
        };
        let warnings = RefCell::new(String::new());
        let warn = |warning: &dyn Display| {
            // A `String` takes whatever is written to it.
            let _ = writeln!(warnings.borrow_mut(), "warning: {warning}");
        };
        let answer = Answer { state, by: None, reason, digest, edit: None };
        let Decided { approval, next, notifier } = deciding::decide(&self.stored, &approval, answer, warn).await?;
        if let Some(notifier) = notifier {
            self.told.spawn(async move {
                notifier.flush(TO_BE_TOLD).await;
            });
        }
        while self.told.try_join_next().is_some() {}
        let (decided, next) = (decided(&approval), strip_str(&next).to_string());
        Ok(News::Decided(format!("{}{next}{}", strip_str(&decided), warnings.into_inner())))
    }
}

fn failed(error: &CliError) -> News {
    let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    News::Failed(format!("{error}{hint}"))
}
