//! What a server promises, as it says itself.

use tokio_postgres::{Client, Error};

use super::PostgresDurability;
use crate::error::OpenError;

/// The oldest release that the journal is tested with.
const OLDEST: i32 = 15;

/// A server, and the role that we have there.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) version: String,
    number: i32,
    encoding: String,
    pub(super) fsync: String,
    pub(super) full_page_writes: String,
    pub(super) synchronous_commit: String,
    pub(super) synchronous_standby_names: String,
    pub(super) role: String,
    /// Whether the role sees every row, whatever the policies say.
    pub(super) bypasses_row_security: bool,
}

impl Server {
    /// Reads everything back, on the connection that it is about.
    pub(super) async fn ask(client: &Client) -> Result<Self, Error> {
        let sql = "SELECT current_setting('server_version'), current_setting('server_version_num')::int,
                          current_setting('server_encoding'), current_setting('fsync'), current_setting('full_page_writes'),
                          current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
                          current_user::text,
                          (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user)";
        let row = client.query_typed_one(sql, &[]).await?;
        Ok(Self {
            version: row.try_get(0)?,
            number: row.try_get(1)?,
            encoding: row.try_get(2)?,
            fsync: row.try_get(3)?,
            full_page_writes: row.try_get(4)?,
            synchronous_commit: row.try_get(5)?,
            synchronous_standby_names: row.try_get(6)?,
            role: row.try_get(7)?,
            bypasses_row_security: row.try_get(8)?,
        })
    }

    /// Fails where the server cannot keep what the journal promises.
    pub(super) fn require(
        &self,
        journal: &str,
        durability: PostgresDurability,
        tenant: Option<&str>,
    ) -> Result<(), OpenError> {
        let refused = |setting, found: &str, wanted| {
            Err(OpenError::Server { journal: journal.to_owned(), setting, found: found.to_owned(), wanted })
        };
        if self.number / 10_000 < OLDEST {
            return refused("server_version", &self.version, "15 or newer");
        }
        if self.encoding != "UTF8" {
            return refused("server_encoding", &self.encoding, "UTF8");
        }
        if durability == PostgresDurability::Required {
            if self.fsync != "on" {
                return refused("fsync", &self.fsync, "on");
            }
            if self.full_page_writes != "on" {
                return refused("full_page_writes", &self.full_page_writes, "on");
            }
            if !["on", "remote_apply"].contains(&self.synchronous_commit.as_str()) {
                return refused("synchronous_commit", &self.synchronous_commit, "on");
            }
        }
        if tenant.is_some() && self.bypasses_row_security {
            // Nothing would keep the tenants apart.
            return refused("row security of this role", "bypassed", "obeyed");
        }
        Ok(())
    }
}
