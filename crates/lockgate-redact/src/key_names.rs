//! Which key names say that their value is a secret.
//!
//! A name is split into words (`-`, `_`, `.`, blanks, camelCase) and judged by its last words, whole: `token_count`,
//! `next_page_token` and `secretary` are none.

/// What a key name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Password,
    Secret,
    Token,
    Key,
    Authorization,
    Cookie,
}

impl KeyKind {
    /// Every kind, for the list of labels.
    pub(crate) const ALL: [Self; 6] =
        [Self::Password, Self::Secret, Self::Token, Self::Key, Self::Authorization, Self::Cookie];

    /// The label of the marker.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret => "secret",
            Self::Token => "token",
            Self::Key => "key",
            Self::Authorization => "authorization",
            Self::Cookie => "cookie",
        }
    }
}

/// Short literals of which every sensitive name that is written in a usual way holds at least one: they go into the
/// prefilter.
pub(crate) const STEMS: [&str; 17] = [
    "pass",
    "Pass",
    "PASS",
    "ecret",
    "ECRET",
    "oken",
    "OKEN",
    "key",
    "Key",
    "KEY",
    "ookie",
    "OOKIE",
    "pwd",
    "Pwd",
    "PWD",
    "uthorization",
    "UTHORIZATION",
];

/// First words that turn a name into something about a secret.
const ABOUT: &[&str] = &[
    "allow", "bad", "change", "count", "disable", "enable", "enabled", "expired", "forgot", "has", "hide", "invalid",
    "is", "max", "min", "missing", "needs", "next", "no", "not", "num", "old", "require", "required", "requires",
    "reset", "show", "use", "verify", "with", "without", "wrong",
];

/// Words before `pass`.
const BEFORE_PASS: &[&str] = &[
    "admin", "auth", "database", "db", "email", "ftp", "http", "mail", "mysql", "pg", "postgres", "proxy", "redis",
    "root", "smtp", "user",
];

/// Words before `token`. Anything else (`page`, `next`, `progress`, `max`, `stop`, …) is a cursor or a piece of text.
const BEFORE_TOKEN: &[&str] = &[
    "access",
    "account",
    "admin",
    "anthropic",
    "api",
    "app",
    "auth",
    "authentication",
    "authorization",
    "aws",
    "azure",
    "bearer",
    "bot",
    "cf",
    "cloudflare",
    "consul",
    "csrf",
    "databricks",
    "deploy",
    "deployment",
    "device",
    "digitalocean",
    "discord",
    "docker",
    "gcp",
    "gh",
    "github",
    "gitlab",
    "google",
    "heroku",
    "hf",
    "hub",
    "huggingface",
    "id",
    "jira",
    "job",
    "jwt",
    "linear",
    "login",
    "mcp",
    "notion",
    "npm",
    "oauth",
    "oauth2",
    "openai",
    "personal",
    "private",
    "publish",
    "pypi",
    "refresh",
    "registry",
    "root",
    "secret",
    "security",
    "sentry",
    "service",
    "session",
    "slack",
    "stripe",
    "telegram",
    "terraform",
    "tf",
    "twilio",
    "user",
    "vault",
    "verification",
    "webhook",
    "xsrf",
];

/// Words before `TOKEN` in the name of an environment variable that make it harmless; all others are credentials.
const BEFORE_HARMLESS_VARIABLE: &[&str] = &[
    "bos",
    "cancel",
    "cancellation",
    "client",
    "cls",
    "continuation",
    "eos",
    "end",
    "first",
    "idempotency",
    "last",
    "mask",
    "page",
    "pad",
    "progress",
    "resume",
    "sep",
    "start",
    "stop",
    "sync",
    "unk",
];

/// Words before `key`.
const BEFORE_KEY: &[&str] = &[
    "access",
    "admin",
    "api",
    "auth",
    "cipher",
    "decryption",
    "encryption",
    "hmac",
    "master",
    "private",
    "secret",
    "shared",
    "signature",
    "signing",
    "webhook",
];

/// Words before `KEY` that count only in the name of an environment variable.
const BEFORE_KEY_VARIABLE: &[&str] = &["account", "app", "storage"];

/// Names that are written as one word.
const JOINED: &[(&str, KeyKind)] = &[
    ("accesskey", KeyKind::Key),
    ("accesstoken", KeyKind::Token),
    ("apikey", KeyKind::Key),
    ("apisecret", KeyKind::Secret),
    ("apitoken", KeyKind::Token),
    ("authkey", KeyKind::Key),
    ("authorization", KeyKind::Authorization),
    ("authtoken", KeyKind::Token),
    ("clientsecret", KeyKind::Secret),
    ("cookie", KeyKind::Cookie),
    ("idtoken", KeyKind::Token),
    ("passcode", KeyKind::Password),
    ("passphrase", KeyKind::Password),
    ("passwd", KeyKind::Password),
    ("password", KeyKind::Password),
    ("privatekey", KeyKind::Key),
    ("pwd", KeyKind::Password),
    ("refreshtoken", KeyKind::Token),
    ("secret", KeyKind::Secret),
    ("secretkey", KeyKind::Key),
    ("sessiontoken", KeyKind::Token),
    ("setcookie", KeyKind::Cookie),
    ("signingkey", KeyKind::Key),
];

/// Whether a name, such as that of an environment variable, says that what it names is a secret.
///
/// ```
/// use lockgate_redact::is_secret_name;
///
/// assert!(is_secret_name("GITHUB_TOKEN") && !is_secret_name("LANG"));
/// ```
pub fn is_secret_name(name: &str) -> bool {
    classify(name).is_some()
}

/// What the value under this name is, if the name says that it is a secret.
pub(crate) fn classify(name: &str) -> Option<KeyKind> {
    let mut folded = Folded::new(name);
    folded.drop_number();
    let last = folded.word_from_end(0)?;
    let before = folded.word_from_end(1).unwrap_or("");
    if folded.count > 1 && ABOUT.contains(&folded.words().next().unwrap_or("")) {
        return None;
    }
    // A sentence is not a name.
    if folded.count > 4 && name.contains(' ') {
        return None;
    }
    let variable = is_variable_name(name);
    match last {
        "token" => {
            let credential = folded.count == 1
                || BEFORE_TOKEN.contains(&before)
                || (variable && !BEFORE_HARMLESS_VARIABLE.contains(&before));
            credential.then_some(KeyKind::Token)
        }
        "key" => {
            let credential = BEFORE_KEY.contains(&before) || (variable && BEFORE_KEY_VARIABLE.contains(&before));
            credential.then_some(KeyKind::Key)
        }
        "pass" => BEFORE_PASS.contains(&before).then_some(KeyKind::Password),
        // `imagePullSecret` holds the name of a secret.
        "secret" if before == "pull" => None,
        "cookie" if folded.count > 1 && !matches!(before, "set" | "http" | "session" | "auth" | "request") => None,
        _ => JOINED.iter().find(|(joined, _)| *joined == last).map(|&(_, kind)| kind),
    }
}

/// Whether a name is written like an environment variable.
pub(crate) fn is_variable_name(name: &str) -> bool {
    name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

const LONGEST: usize = 96;
const MOST_WORDS: usize = 12;

/// A name in lower case, split into words, on the stack. Of a very long name only the end is kept.
struct Folded {
    text: [u8; LONGEST],
    ends: [usize; MOST_WORDS],
    count: usize,
}

impl Folded {
    fn new(name: &str) -> Self {
        let bytes = name.as_bytes();
        let bytes = &bytes[bytes.len().saturating_sub(LONGEST)..];
        let mut folded = Self { text: [0; LONGEST], ends: [0; MOST_WORDS], count: 0 };
        let mut length = 0;
        let mut word_open = false;
        for (index, &byte) in bytes.iter().enumerate() {
            if !byte.is_ascii_alphanumeric() {
                word_open = false;
                continue;
            }
            let previous = index.checked_sub(1).map_or(0, |previous| bytes[previous]);
            let next = bytes.get(index + 1).copied().unwrap_or(0);
            let hump = byte.is_ascii_uppercase() && (!previous.is_ascii_uppercase() || next.is_ascii_lowercase());
            if !word_open || hump {
                if folded.count == MOST_WORDS {
                    folded.forget_first_word();
                    length = folded.ends[folded.count - 1];
                }
                folded.count += 1;
                word_open = true;
            }
            folded.text[length] = byte.to_ascii_lowercase();
            length += 1;
            folded.ends[folded.count - 1] = length;
        }
        folded
    }

    fn forget_first_word(&mut self) {
        let cut = self.ends[0];
        self.text.copy_within(cut.., 0);
        self.ends.copy_within(1.., 0);
        for end in &mut self.ends {
            *end = end.saturating_sub(cut);
        }
        self.count -= 1;
    }

    /// `api_key_2` and `password1` are judged like `api_key` and `password`.
    fn drop_number(&mut self) {
        while self.count > 1 && self.word_from_end(0).is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        {
            self.count -= 1;
        }
        let Some(last) = self.count.checked_sub(1) else { return };
        let start = last.checked_sub(1).map_or(0, |before| self.ends[before]);
        while self.ends[last] > start + 1 && self.text[self.ends[last] - 1].is_ascii_digit() {
            self.ends[last] -= 1;
        }
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        (0..self.count).rev().filter_map(|distance| self.word_from_end(distance))
    }

    fn word_from_end(&self, distance: usize) -> Option<&str> {
        let index = self.count.checked_sub(distance + 1)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        std::str::from_utf8(&self.text[start..self.ends[index]]).ok()
    }
}

#[cfg(test)]
mod tests;
