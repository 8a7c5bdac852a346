//! What the page holds, and what becomes of it.

use lockgate::contract::approval::{Approval, ApprovalState, visible};
use lockgate::contract::digest::Digest;
use lockgate::contract::ids::{ApprovalId, RunId};
use lockgate::contract::time::Timestamp;
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::view;
use crate::render::text::one_line;

/// How many questions are listed; beyond them they are only counted.
const LISTED: usize = 10_000;
/// The longest reason that can be typed, in characters.
const REASON: usize = 1000;

/// Everything that is on the page.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(super) questions: Vec<Question>,
    /// How many more are open.
    pub(super) more: usize,
    /// The place of the one that is pointed at.
    pub(super) place: usize,
    pub(super) shown: Option<Shown>,
    /// How many lines of the question have gone by above.
    pub(super) scroll: usize,
    /// Whether there is room for the question.
    has_room: bool,
    pub(super) mode: Mode,
    pub(super) notice: Option<Notice>,
    pub(super) now: Timestamp,
}

/// One line of the list: short, however long its question is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(super) id: ApprovalId,
    pub(super) run: RunId,
    pub(super) tool: String,
    pub(super) effect: &'static str,
    pub(super) expires_at: Timestamp,
    /// Who may decide.
    pub(super) who: String,
    pub(super) yeses: usize,
    pub(super) needed: usize,
}

/// The question that is pointed at, whole.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) approval: Approval,
    /// What it is compared with.
    pub(crate) before: Option<Approval>,
}

/// What keys mean.
#[derive(Debug, Default)]
pub(super) enum Mode {
    #[default]
    Browsing,
    /// A reason is typed.
    Reasoning(Decision, String),
    /// A decision waits for its second key.
    Confirming(Decision),
    /// A decision is on its way.
    Sending,
    Help,
}

/// A decision about what was shown, and about nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) id: ApprovalId,
    pub(crate) digest: Digest,
    pub(crate) state: ApprovalState,
    pub(crate) reason: Option<String>,
    pub(super) tool: String,
    pub(super) run: RunId,
}

/// What is said below, until the next key.
#[derive(Debug)]
pub(super) struct Notice {
    pub(super) text: String,
    pub(super) is_bad: bool,
}

/// What the page hears.
#[derive(Debug)]
pub(crate) enum News {
    /// Somebody pressed a key.
    Key(KeyEvent),
    /// Somebody pasted a text.
    Pasted(String),
    /// These questions are open.
    Listed(Vec<Question>),
    /// A question that it wished to show; nothing where it is gone.
    Shown(Box<Option<Shown>>),
    /// A decision was taken: what it was, and what can be done now.
    Decided(String),
    /// Something did not work.
    Failed(String),
    /// It is so late.
    Clock(Timestamp),
}

/// What the page wants done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Read a question.
    Show(ApprovalId),
    /// Send a decision.
    Decide(Decision),
    /// Read the list.
    List,
    /// Be gone.
    Quit,
}

impl Question {
    pub(crate) fn of(approval: &Approval) -> Self {
        let who = match &approval.approvers {
            None => "anybody".to_owned(),
            Some(required) if required.roles.is_empty() => "anybody else".to_owned(),
            Some(required) => one_line(&required.roles.join(" or "), 40),
        };
        Self {
            id: approval.approval_id.clone(),
            run: approval.run_id.clone(),
            tool: one_line(&format!("{} {}", approval.tool_name, approval.tool_version), 60),
            effect: approval.effect.word(),
            expires_at: approval.expires_at,
            who,
            yeses: approval.yeses.len(),
            needed: approval.yeses.len() + approval.missing_yeses() as usize,
        }
    }
}

impl Page {
    /// Takes in one thing, and says what is to be done about it.
    pub(crate) fn hear(&mut self, news: News) -> Option<Wish> {
        match news {
            News::Key(key) => self.key(key),
            News::Pasted(text) => {
                // Anywhere else the letters would be keys.
                if let Mode::Reasoning(_, reason) = &mut self.mode {
                    text.chars().for_each(|character| typed(reason, character));
                }
                None
            }
            News::Listed(questions) => self.listed(questions),
            News::Shown(shown) => {
                let pointed_at = self.pointed_at().map(|question| &question.id);
                if shown.as_ref().as_ref().is_some_and(|shown| Some(&shown.approval.approval_id) == pointed_at) {
                    self.shown = *shown;
                }
                None
            }
            News::Decided(text) => self.settled(text, false),
            News::Failed(text) => self.settled(text, true),
            News::Clock(now) => {
                self.now = now;
                None
            }
        }
    }

    /// Draws it. Only here is it known how far the question can be read on.
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>) {
        let scrolled = view::draw(self, frame);
        self.has_room = scrolled.is_some();
        self.scroll = scrolled.unwrap_or(0);
    }

    fn settled(&mut self, text: String, is_bad: bool) -> Option<Wish> {
        let sent = matches!(self.mode, Mode::Sending);
        if sent {
            self.mode = Mode::Browsing;
        }
        self.notice = Some(Notice { text, is_bad });
        sent.then_some(Wish::List)
    }

    /// The same question stays pointed at, wherever it stands now. What somebody is deciding about stays as it is.
    fn listed(&mut self, mut questions: Vec<Question>) -> Option<Wish> {
        self.more = questions.len().saturating_sub(LISTED);
        questions.truncate(LISTED);
        questions.shrink_to_fit();
        let before = self.pointed_at().cloned();
        let same = before.as_ref().and_then(|before| questions.iter().position(|question| question.id == before.id));
        self.place = same.unwrap_or(self.place).min(questions.len().saturating_sub(1));
        self.questions = questions;
        if self.pointed_at() == before.as_ref() && self.is_shown() { None } else { self.show() }
    }

    pub(super) fn pointed_at(&self) -> Option<&Question> {
        self.questions.get(self.place)
    }

    /// The question that is pointed at, where it is the one that can be read.
    pub(super) fn legible(&self) -> Option<&Shown> {
        let id = &self.pointed_at()?.id;
        self.shown.as_ref().filter(|shown| shown.approval.approval_id == *id)
    }

    fn is_shown(&self) -> bool {
        self.questions.is_empty() || self.legible().is_some()
    }

    fn show(&mut self) -> Option<Wish> {
        if self.legible().is_none() {
            self.shown = None;
            self.scroll = 0;
        }
        self.pointed_at().map(|question| Wish::Show(question.id.clone()))
    }

    fn key(&mut self, key: KeyEvent) -> Option<Wish> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if with_control {
            return (key.code == KeyCode::Char('c')).then_some(Wish::Quit);
        }
        match std::mem::take(&mut self.mode) {
            Mode::Browsing => self.browse(key.code),
            Mode::Help => None,
            Mode::Sending => {
                self.mode = Mode::Sending;
                None
            }
            Mode::Reasoning(decision, reason) => {
                self.reason(key.code, decision, reason);
                None
            }
            Mode::Confirming(decision) if key.code == KeyCode::Char('y') => {
                self.mode = Mode::Sending;
                Some(Wish::Decide(decision))
            }
            Mode::Confirming(_) => {
                self.notice = Some(Notice { text: "nothing was decided".to_owned(), is_bad: false });
                None
            }
        }
    }

    fn browse(&mut self, key: KeyCode) -> Option<Wish> {
        self.notice = None;
        match key {
            KeyCode::Char('q') => return Some(Wish::Quit),
            KeyCode::Char('r') => return Some(Wish::List),
            KeyCode::Char('?') => self.mode = Mode::Help,
            KeyCode::Char('a') => self.decide(ApprovalState::Granted),
            KeyCode::Char('d') => self.decide(ApprovalState::Denied),
            KeyCode::Char('w') => self.decide(ApprovalState::Withdrawn),
            KeyCode::Up | KeyCode::Char('k') => return self.point(self.place.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => return self.point(self.place.saturating_add(1)),
            KeyCode::Home | KeyCode::Char('g') => return self.point(0),
            KeyCode::End | KeyCode::Char('G') => return self.point(usize::MAX),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll = self.scroll.saturating_add(10),
            KeyCode::PageUp | KeyCode::Char('b') => self.scroll = self.scroll.saturating_sub(10),
            _ => {}
        }
        None
    }

    fn point(&mut self, place: usize) -> Option<Wish> {
        let place = place.min(self.questions.len().saturating_sub(1));
        if place == self.place {
            return None;
        }
        self.place = place;
        self.show()
    }

    /// Only about what stands on the page.
    fn decide(&mut self, state: ApprovalState) {
        if !self.has_room {
            let text = "there is no room for the question: make the terminal larger".to_owned();
            self.notice = Some(Notice { text, is_bad: true });
            return;
        }
        let Some(Shown { approval, .. }) = self.legible() else {
            self.notice = Some(Notice { text: "there is no question on the page yet".to_owned(), is_bad: true });
            return;
        };
        let decision = Decision {
            id: approval.approval_id.clone(),
            digest: approval.digest,
            state,
            reason: None,
            tool: one_line(&format!("{} {}", approval.tool_name, approval.tool_version), 60),
            run: approval.run_id.clone(),
        };
        self.mode = if state == ApprovalState::Denied {
            Mode::Reasoning(decision, String::new())
        } else {
            Mode::Confirming(decision)
        };
    }

    fn reason(&mut self, key: KeyCode, decision: Decision, mut reason: String) {
        self.mode = match key {
            KeyCode::Esc => {
                self.notice = Some(Notice { text: "nothing was decided".to_owned(), is_bad: false });
                Mode::Browsing
            }
            KeyCode::Enter => {
                let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
                Mode::Confirming(Decision { reason, ..decision })
            }
            KeyCode::Backspace => {
                reason.pop();
                Mode::Reasoning(decision, reason)
            }
            KeyCode::Char(character) => {
                typed(&mut reason, character);
                Mode::Reasoning(decision, reason)
            }
            _ => Mode::Reasoning(decision, reason),
        };
    }
}

impl Decision {
    /// What the second key sends, in a sentence.
    pub(super) fn asked(&self) -> String {
        let verb = match self.state {
            ApprovalState::Granted => "approve",
            ApprovalState::Denied => "deny",
            _ => "withdraw",
        };
        let why = self.reason.as_deref().map(|reason| format!(", because: {}", visible(reason))).unwrap_or_default();
        format!("{verb} {} of {}{why}? y does it, any other key does not", self.tool, self.run)
    }
}

fn typed(reason: &mut String, character: char) {
    if reason.chars().count() < REASON {
        reason.push(if character.is_control() { ' ' } else { character });
    }
}

#[cfg(test)]
mod tests;
