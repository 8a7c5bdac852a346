//! Credentials for MCP servers that want to know who calls (OAuth 2.1, as MCP's section "Authorization" has it, both eras).
//!
//! ```text
//! 401 or 403 ─► Challenge ─► the resource's metadata ─► the issuer's metadata ─► Registration ─► Flow ─► UserAgent ─► Credential
//!                            (RFC 9728)                 (RFC 8414, OIDC)                                             in the Vault
//! ```
//!
//! An [`Authorizer`] gets tokens for one [`Owner`] at one server. Nothing that a server or an issuer says is believed: addresses are
//! looked at before they are reached ([`lockgate_host::http::Reach`]), no redirect is followed, every answer has a size and a time, and
//! an issuer is who its own metadata says. Tokens are kept by owner, server and issuer, and one owner's is never an answer to another.
//!
//! A [`Confidant`] hears of every token before it is used, so that a server that says it back tells it to nobody.
//!
//! It owns how tokens are got and kept. It opens no browser and asks nobody: that is a [`UserAgent`]'s.

mod answer;
mod authorizer;
mod challenge;
mod client;
mod confidant;
mod discovery;
mod error;
mod flow;
mod form;
mod grant;
mod jwt;
mod loopback;
mod metadata;
mod registration;
mod scope;
mod secret;
mod settings;
mod token;
mod tokens;
mod vault;
mod visits;
mod web;

#[cfg(test)]
mod tests;

pub use self::authorizer::{Authorizer, Parts};
pub use self::confidant::{Confidant, Hushed, NobodyListens};
pub use self::error::OAuthError;
pub use self::flow::{Flow, UserAgent};
pub use self::loopback::Loopback;
pub use self::secret::Secret;
pub use self::settings::{Exchange, Grant, Proof, Registered, Settings, SubjectToken};
pub use self::vault::{Owner, Vault};
pub use self::visits::Visits;
