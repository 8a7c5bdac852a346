//! What cannot be meant by a table of an MCP server.

use std::collections::BTreeMap;

use lockgate_contract::effect::{Effect, ReplayPolicy};

use super::McpTable;
use super::value::{is_variable, pieces};

impl McpTable {
    /// What is wrong with the tables.
    pub(in crate::run_file) fn wrong(tables: &BTreeMap<String, Self>) -> Option<String> {
        for (name, table) in tables {
            if let Some(wrong) = wrong_name(name).or_else(|| table.wrong_alone()) {
                return Some(format!("`mcp.{name}`: {wrong}"));
            }
        }
        let mut prefixes = BTreeMap::new();
        for (name, table) in tables {
            let prefix = table.prefix(name);
            if prefix.is_empty() && tables.len() > 1 {
                return Some(format!("`mcp.{name}.prefix` is empty, which only the single server's can be"));
            }
            if let Some(other) = prefixes.insert(prefix, name) {
                return Some(format!(
                    "`mcp.{other}` and `mcp.{name}` have the prefix `{prefix}` both: their tools' names would clash"
                ));
            }
        }
        None
    }

    fn wrong_alone(&self) -> Option<String> {
        let key = |key: &str, wrong: &str| Some(format!("`{key}` {wrong}"));
        if let Some(prefix) = &self.prefix
            && !prefix.is_empty()
            && let Some(problem) = prefix_problem(prefix)
        {
            return Some(format!("`prefix` cannot be `{}`: {problem}", prefix.escape_debug()));
        }
        if let Some(wrong) = self.wrong_place() {
            return Some(wrong.to_owned());
        }
        if let Some(oauth) = &self.oauth {
            if self.bearer_env.is_some() || !self.bearer_env_by_user.is_empty() {
                return Some("it has `oauth` and a `bearer_env`: tokens are got, or they are written down".to_owned());
            }
            if let Some(wrong) = oauth.wrong() {
                return Some(format!("`oauth`: {wrong}"));
            }
        }
        for (variable, value) in &self.env_set {
            if !is_variable(variable) {
                return Some(format!("`env_set` sets `{}`, which is no variable's name", variable.escape_debug()));
            }
            if let Err(wrong) = pieces(value) {
                return Some(format!("`env_set.{variable}`: {wrong}"));
            }
        }
        let variables = self.env.iter().chain(self.headers_env.values()).chain(&self.bearer_env);
        for variable in variables.chain(self.bearer_env_by_user.values()) {
            if !is_variable(variable) {
                return Some(format!("`{}` is no environment variable's name", variable.escape_debug()));
            }
        }
        for user in self.bearer_env_by_user.keys() {
            if user.split('/').filter(|part| !part.is_empty()).count() != 2 || user.matches('/').count() != 1 {
                return Some(format!("`bearer_env_by_user` names `{}`: users are `TENANT/USER`", user.escape_debug()));
            }
        }
        if self.headers_env.keys().any(|header| header.eq_ignore_ascii_case("authorization")) {
            return key("headers_env", "sets `Authorization`: say `bearer_env`");
        }
        for (span, name) in
            [(self.timeout, "timeout"), (self.idle_timeout, "idle_timeout"), (self.start_timeout, "start_timeout")]
        {
            if span.is_some_and(|span| span.as_duration().is_zero()) {
                return key(name, "is zero");
            }
        }
        if let (Some(idle), Some(absolute)) = (self.idle_timeout, self.timeout)
            && idle > absolute
        {
            return key("idle_timeout", "is longer than `timeout`");
        }
        self.wrong_effects()
    }

    /// Where it is, and how it is spoken with.
    fn wrong_place(&self) -> Option<&'static str> {
        let of_program = !self.env.is_empty() || !self.env_set.is_empty() || self.folder.is_some();
        let of_address = !self.headers_env.is_empty()
            || self.bearer_env.is_some()
            || !self.bearer_env_by_user.is_empty()
            || self.oauth.is_some()
            || self.allow_insecure;
        match (&self.command, &self.url) {
            (Some(_), Some(_)) => Some("it has a `command` and a `url`: it is one or the other"),
            (None, None) => Some("it needs a `command` or a `url`"),
            (Some(command), None) if command.first().is_none_or(String::is_empty) => Some("`command` names no program"),
            (Some(_), None) if of_address => {
                Some("`headers_env`, `bearer_env`, `bearer_env_by_user`, `oauth` and `allow_insecure` are for a `url`")
            }
            (Some(_), None) => None,
            (None, Some(_)) if of_program => Some("`env`, `env_set` and `folder` are for a `command`"),
            (None, Some(url)) => self.wrong_url(url),
        }
    }

    fn wrong_url(&self, url: &str) -> Option<&'static str> {
        let rest = match url.split_once("://") {
            Some(("https", rest)) => rest,
            Some(("http", rest)) if self.allow_insecure || is_this_machine(rest) => rest,
            Some(("http", _)) => return Some("`url` is plain http to another machine: use https, or `allow_insecure`"),
            _ => return Some("`url` begins with neither `https://` nor `http://`"),
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        (authority.is_empty() || authority.contains('@'))
            .then_some("`url` has no host, or holds a name and password: those go into `bearer_env` or `headers_env`")
    }

    /// What the gate would refuse to believe later.
    fn wrong_effects(&self) -> Option<String> {
        let keyed = self.idempotency_argument.is_some();
        let unsafe_replay = |effect: Option<Effect>, replay: Option<ReplayPolicy>| {
            replay == Some(ReplayPolicy::Safe) && effect.unwrap_or(Effect::External).changes_something() && !keyed
        };
        if unsafe_replay(self.effect, self.replay) {
            return Some(
                "`replay = \"safe\"` is for `effect = \"read\"`, or where an idempotency key is recognised".to_owned(),
            );
        }
        self.tool.iter().find_map(|(name, tool)| {
            let name = name.escape_debug();
            if tool.timeout.is_some_and(|span| span.as_duration().is_zero()) {
                return Some(format!("`timeout` of tool `{name}` is zero"));
            }
            unsafe_replay(tool.effect.or(self.effect), tool.replay.or(self.replay)).then(|| {
                format!("tool `{name}` has `replay = \"safe\"`, and neither `effect = \"read\"` nor an idempotency key")
            })
        })
    }
}

fn wrong_name(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("a server needs a name".to_owned());
    }
    prefix_problem(name).map(|problem| format!("this is no name for a server: {problem}"))
}

/// What keeps a word from standing before `__`: `prefix__raw` must be readable in one way only.
fn prefix_problem(prefix: &str) -> Option<&'static str> {
    const LONGEST: usize = 32;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if prefix.len() > LONGEST {
        Some("it is longer than 32 characters")
    } else if !prefix.bytes().all(plain) {
        Some("it holds something else than letters, digits, `_` and `-`")
    } else if prefix.contains("__") || prefix.ends_with('_') {
        Some("it holds `__` or ends in `_`, which stand between a prefix and a tool's own name")
    } else {
        None
    }
}

/// Whether the part of a URL behind `://` is about this machine.
fn is_this_machine(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
