//! Why there is no token.

use std::collections::BTreeSet;

/// Why there is no token. Texts of other machines are cut and shown without their control characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OAuthError {
    /// A person has to visit this URL first.
    #[error("somebody has to log in first")]
    AuthorizationNeeded {
        /// The URL, http or https: to be shown, and opened by nobody but the person.
        url: String,
    },
    /// Nobody can be asked here.
    #[error("nobody is logged in at `{upstream}`: `lockgate mcp login {upstream}` does that")]
    LoginNeeded {
        /// The server's name.
        upstream: String,
    },
    /// A URL may not be visited from here.
    #[error("the {what} `{url}` is not visited: {why}")]
    Refused {
        /// What it is the URL of.
        what: &'static str,
        /// The URL.
        url: String,
        /// Why not.
        why: String,
    },
    /// A machine was not reached, or answered with something that cannot be used.
    #[error("the {what} at `{url}` cannot be had: {why}")]
    Unusable {
        /// What was wanted.
        what: &'static str,
        /// From where.
        url: String,
        /// What was wrong.
        why: String,
    },
    /// Nobody says who gives tokens for a server.
    #[error("server `{server}` does not say who gives tokens for it ({tried}); `issuer` can")]
    NoResourceMetadata {
        /// The server's URL.
        server: String,
        /// What was tried.
        tried: String,
    },
    /// The metadata are about another server.
    #[error("the metadata are about `{resource}`, and not about server `{server}`")]
    OtherResource {
        /// Whom they are about.
        resource: String,
        /// Whom they should be about.
        server: String,
    },
    /// The configured issuer is not among those that give tokens for the server.
    #[error("issuer `{issuer}` gives no tokens for this server: {offered:?} do")]
    OtherIssuers {
        /// The one that is configured.
        issuer: String,
        /// Those that the server names.
        offered: Vec<String>,
    },
    /// Metadata are of another issuer than the one that was asked: somebody mixes them up.
    #[error("`{url}` has the metadata of issuer `{found}`, and not of `{issuer}`")]
    IssuerMismatch {
        /// Where they were.
        url: String,
        /// Whose they are.
        found: String,
        /// Whose they should be.
        issuer: String,
    },
    /// An issuer does not do what is needed.
    #[error("issuer `{issuer}` {lacks}")]
    Lacking {
        /// The issuer.
        issuer: String,
        /// What it does not do.
        lacks: String,
    },
    /// The redirect names another issuer than the one that was asked, or none where it has to.
    #[error("the answer comes from {}, and not from issuer `{issuer}`: nothing was redeemed", found.as_deref().map_or_else(|| "nobody".to_owned(), |found| format!("`{found}`")))]
    WrongIssuer {
        /// Who answered.
        found: Option<String>,
        /// Who was asked.
        issuer: String,
    },
    /// The redirect answers no question of ours, or not of this person, or too late.
    #[error("this is no answer to a login that is under way here: begin again")]
    UnknownState,
    /// The redirect has no code.
    #[error("the answer has no code, or two")]
    NoCode,
    /// The issuer said no.
    #[error("issuer `{issuer}` says no: {said}")]
    Denied {
        /// The issuer.
        issuer: String,
        /// Its error code, which says whether another try is of use.
        code: String,
        /// What it said.
        said: String,
    },
    /// The server goes on refusing what it asked for itself.
    #[error("the server refuses a token that it has just been given{}", scopes(wanted))]
    StillRefused {
        /// The scopes that it wants, and that were asked for already.
        wanted: BTreeSet<String>,
    },
    /// A token could not be kept out of texts that leave, so it is not used.
    #[error("issuer `{issuer}` gave a token that cannot be kept secret: {why}")]
    Unkeepable {
        /// The issuer.
        issuer: String,
        /// Why not.
        why: String,
    },
    /// It took too long.
    #[error("nobody answered within {0} s")]
    TimedOut(u64),
    /// What was configured cannot be used.
    #[error("{0}")]
    Settings(String),
    /// The file of credentials cannot be used.
    #[error("the file of credentials: {0}")]
    Vault(String),
}

fn scopes(wanted: &BTreeSet<String>) -> String {
    if wanted.is_empty() {
        return String::new();
    }
    let names: Vec<_> = wanted.iter().map(|name| format!("`{}`", shown(name))).collect();
    format!(": it wants {}", names.join(", "))
}

/// A text of another machine, for people: cut, and without control characters.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 200;
    let cut = &text[..text.floor_char_boundary(MOST)];
    let plain: String = cut.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
    if cut.len() < text.len() { format!("{plain}…") } else { plain }
}
