//! Where a server may listen.

use std::net::SocketAddr;

use lockgate::config::AuthTable;
use thiserror::Error;

/// An address that others can reach, at a server that asks nobody who they are.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("others can reach `{0}`, and callers need no credential here: the server does not listen there")]
pub struct BindRefused(SocketAddr);

impl BindRefused {
    /// What to do about it.
    pub fn hint(&self) -> String {
        let port = self.0.port();
        format!(
            "listen on `127.0.0.1:{port}`, or say in `[auth]` who may come in: `tokens_file`, `run_key_file` or an issuer"
        )
    }
}

/// Whether a server may listen at an address: whoever asks nobody who they are is reached by this machine only.
///
/// # Errors
///
/// It may not.
pub fn check_bind(address: SocketAddr, auth: &AuthTable) -> Result<(), BindRefused> {
    let stays_here = match address.ip() {
        std::net::IpAddr::V6(ip) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
        std::net::IpAddr::V4(ip) => ip.is_loopback(),
    };
    if stays_here || !auth.is_anonymous() { Ok(()) } else { Err(BindRefused(address)) }
}
