//! How the file's tools are offered to MCP clients by `lockgate serve`.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::Deserialize;

/// How `lockgate serve` offers the file's tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerTable {
    /// The address and port. Without: `127.0.0.1:8377`. Another than this machine's needs authentication.
    pub bind: Option<String>,
    /// The path of the MCP endpoint. Without: `/mcp`.
    pub path: Option<String>,
    /// Where clients and people reach the server, such as `https://tools.example.com`. Without: the address that it is bound to.
    pub public_url: Option<String>,
    /// Origins of web pages that may use it, such as `https://chat.example.com`, beside this machine's own.
    #[serde(default)]
    pub origins: Vec<String>,
    /// Names under which clients reach it, such as `tools.example.com`, beside this machine's own and the host of `public_url`.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Bytes of one request. Without: 4194304.
    pub max_body_bytes: Option<usize>,
    /// Requests of one client that may be under way, streams included. Without: 256.
    #[schemars(range(min = 1))]
    pub max_calls: Option<usize>,
    /// Lets whoever sits at the MCP client answer approvals in it. Without, a person answers on the page or by command: what comes
    /// through a client could come from the agent.
    #[serde(default)]
    pub approve_in_client: bool,
}

impl ServerTable {
    /// Where it listens when nobody says otherwise.
    pub const DEFAULT_BIND: &'static str = "127.0.0.1:8377";

    /// The address and port.
    pub fn bind(&self) -> &str {
        self.bind.as_deref().unwrap_or(Self::DEFAULT_BIND)
    }

    /// The path of the MCP endpoint.
    pub fn path(&self) -> &str {
        self.path.as_deref().unwrap_or("/mcp")
    }

    /// What cannot be meant.
    pub(super) fn wrong(&self) -> Option<String> {
        let wrong = |key: &str, wrong: &str| Some(format!("`server.{key}` {wrong}"));
        if self.bind().parse::<SocketAddr>().is_err() {
            return Some(format!(
                "`server.bind` is `{}`, which is no address with a port, such as `127.0.0.1:8377`",
                self.bind().escape_debug()
            ));
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
        let path = self.path();
        if !path.starts_with('/') || path.len() < 2 || path.ends_with('/') || !path.bytes().all(plain) {
            return wrong(
                "path",
                "begins with `/`, does not end with it, and holds letters, digits, `-`, `_`, `.` and `~`",
            );
        }
        if RESERVED
            .iter()
            .any(|taken| path == *taken || path.strip_prefix(taken).is_some_and(|rest| rest.starts_with('/')))
        {
            return wrong("path", "is taken by the server's own pages");
        }
        if let Some(url) = &self.public_url {
            let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
            if host.is_none_or(|host| host.is_empty() || host.contains(['/', '?', '#', '@'])) {
                return wrong(
                    "public_url",
                    "is a scheme and a host, such as `https://tools.example.com`, without a path",
                );
            }
        }
        if self.origins.iter().any(|origin| !origin.contains("://") || origin.ends_with('/')) {
            return wrong("origins", "holds origins, such as `https://chat.example.com`");
        }
        if self.hosts.iter().any(|host| host.is_empty() || host.contains(['/', '@', ' '])) {
            return wrong("hosts", "holds host names, such as `tools.example.com`");
        }
        if self.max_body_bytes == Some(0) || self.max_calls == Some(0) {
            return Some("`server.max_body_bytes` and `server.max_calls` must be at least 1".to_owned());
        }
        None
    }
}

/// Paths that the server answers itself.
const RESERVED: [&str; 7] = ["/approvals", "/login", "/logout", "/healthz", "/status", "/runs", "/.well-known"];

#[cfg(test)]
mod tests;
