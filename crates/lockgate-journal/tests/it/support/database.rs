//! PostgreSQL for tests: a server that somebody started, and a database of its own for each test.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lockgate_contract::digest::Digest;
use lockgate_contract::ports::Clock;
use lockgate_journal::{PostgresClock, PostgresDurability, PostgresJournal, PostgresOptions};
use tokio_postgres::{Client, NoTls};

/// The URL of a server's administrator: `cargo xtask test` starts a server, and sets it.
const SERVER: &str = "LOCKGATE_TEST_POSTGRES";

/// Whose the databases are. No administrator: that one would be above the policies.
const OWNER: &str = "lockgate_test_owner";

/// A test that was killed while it waited for a standby leaves a session that waits for ever, and every DROP DATABASE behind it.
const LEFT_WAITING: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                            WHERE wait_event = 'SyncRep' AND state_change < now() - interval '1 minute'";

/// Who uses a database without owning it.
pub(crate) const USER: &str = "lockgate_test_user";

/// A database that is dropped with this value.
pub(crate) struct Database {
    name: String,
}

impl Database {
    /// One with the schema of today, and nothing in it.
    pub(crate) fn new() -> Self {
        let template = template();
        Self::create(&template)
    }

    /// One without a schema.
    pub(crate) fn empty() -> Self {
        template();
        Self::create("template0")
    }

    fn create(template: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lockgate_test_{}_{number}", std::process::id());
        let sql = format!("CREATE DATABASE {name} TEMPLATE {template} OWNER {OWNER} ENCODING 'UTF8'");
        wait(async move {
            let administrator = administrator("postgres").await;
            administrator.batch_execute(LEFT_WAITING).await.unwrap();
            administrator.batch_execute(&sql).await.unwrap();
        });
        Self { name }
    }

    /// A journal that owns the database, with a clock that the test moves.
    pub(crate) fn journal(&self, clock: Arc<dyn Clock>) -> PostgresJournal {
        PostgresJournal::open_with(&self.url(), options(clock)).unwrap()
    }

    /// The URL for its owner.
    pub(crate) fn url(&self) -> String {
        url(OWNER, &self.name)
    }

    /// The URL for somebody else.
    pub(crate) fn url_for(&self, role: &str) -> String {
        url(role, &self.name)
    }

    /// A connection of the server's administrator, who may do everything.
    pub(crate) async fn administrator(&self) -> Client {
        administrator(&self.name).await
    }

    /// A connection of a role.
    pub(crate) async fn connect(&self, role: &str) -> Client {
        connect(&url(role, &self.name)).await
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let sql = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        wait(async move {
            // A server that is gone has dropped them all.
            let _ = administrator("postgres").await.batch_execute(&sql).await;
        });
    }
}

/// How test journals behave: the server they use forgets everything when it is unplugged, and is thrown away afterwards.
pub(crate) fn options(clock: Arc<dyn Clock>) -> PostgresOptions {
    PostgresOptions {
        connections: 5,
        clock: PostgresClock::Given(clock),
        durability: PostgresDurability::Ignored,
        ..PostgresOptions::default()
    }
}

/// The address of the server, and the name and password of its administrator.
pub(crate) fn server() -> (String, String) {
    let url = std::env::var(SERVER).unwrap_or_else(|_| {
        panic!(
            "`{SERVER}` is not set: `cargo xtask test` starts a server and sets it; to use one that runs, \
             `{SERVER}=postgres://USER:PASSWORD@HOST:PORT/postgres`, started with `-c synchronous_commit=local -c \
             synchronous_standby_names=nobody`"
        )
    });
    let (_, rest) = url.split_once("://").unwrap();
    let (administrator, rest) = rest.rsplit_once('@').unwrap();
    let (address, _) = rest.rsplit_once('/').unwrap();
    (address.to_owned(), administrator.to_owned())
}

fn url(role: &str, database: &str) -> String {
    format!("postgres://{role}:{role}@{}/{database}", server().0)
}

async fn administrator(database: &str) -> Client {
    let (address, administrator) = server();
    connect(&format!("postgres://{administrator}@{address}/{database}")).await
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The database that the others are copied from. Whichever test comes first makes it, and the roles.
fn template() -> String {
    let schema = include_str!("../../../src/postgres/migrations/0001_journal.sql");
    let digest = Digest::of_text("test", schema).to_string();
    let name = format!("lockgate_test_template_{}", &digest[digest.len() - 12..]);
    let template = name.clone();
    wait(async move {
        let administrator = administrator("postgres").await;
        // Held as long as this connection is open.
        administrator.batch_execute("SELECT pg_advisory_lock(4711)").await.unwrap();
        for role in [OWNER, USER] {
            if administrator.query("SELECT 1 FROM pg_roles WHERE rolname = $1", &[&role]).await.unwrap().is_empty() {
                administrator.batch_execute(&format!("CREATE ROLE {role} LOGIN PASSWORD '{role}'")).await.unwrap();
            }
        }
        let there = administrator.query("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await.unwrap();
        if there.is_empty() {
            let sql = format!("CREATE DATABASE {name} TEMPLATE template0 OWNER {OWNER} ENCODING 'UTF8'");
            administrator.batch_execute(&sql).await.unwrap();
            let options = PostgresOptions { durability: PostgresDurability::Ignored, ..PostgresOptions::default() };
            drop(PostgresJournal::open_with(&url(OWNER, &name), options).unwrap());
        }
    });
    template
}

/// Does something on a runtime of its own, wherever it is called.
fn wait(work: impl Future<Output = ()> + Send + 'static) {
    std::thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
    })
    .join()
    .unwrap();
}
