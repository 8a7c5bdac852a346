//! The door of a server: who is calling, and the page on which people answer questions.
//!
//! ```text
//! request ─► auth::Authenticator ─► Principal (an agent's: it calls)      ─► /mcp, /runs/<id>/mcp
//!                               └─► Person   (one who decides: calls nothing) ─► pages::Pages ─► lockgate::deciding
//! ```
//!
//! It owns credentials and what is shown to browsers. It decides about no call, and a decision of a person's takes the way that
//! `lockgate approvals` takes.

pub mod auth;
mod content;
mod form;
pub mod gateway;
pub mod pages;
mod runs;
pub mod serve;
pub mod tokens;
