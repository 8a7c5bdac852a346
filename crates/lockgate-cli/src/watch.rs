//! The page of `lockgate approvals watch`.
//!
//! ```text
//!   keys, lists, answers ──► page: what is shown, what is asked for ──► view: cells of a terminal
//!                              │
//!                              └──► wishes: show this question, send this decision, quit ──► the command
//! ```
//!
//! The page does nothing by itself and knows no journal, no clock and no terminal: it is fed, and says what it wishes.

mod page;
mod terminal;
mod view;

pub(crate) use self::page::{Decision, News, Page, Question, Shown, Wish};
pub(crate) use self::terminal::{Screen, is_there};
