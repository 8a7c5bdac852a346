//! A PostgreSQL server for the tests: made in a temporary folder, and gone with it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::{install, is_root, run, said};
use crate::steps::command;

/// What the tests read the server's URL from. Who sets it has a server already.
const VARIABLE: &str = "LOCKGATE_TEST_POSTGRES";

/// The oldest release that a journal takes.
const OLDEST: u32 = 15;

/// Where Debian and its relatives put one folder a release.
const RELEASES: &str = "/usr/lib/postgresql";

/// A server that ends with this value.
pub(crate) struct Server {
    url: String,
    /// Nothing for a server that somebody else started.
    _started: Option<Started>,
}

/// A server of ours. It ends with this value, also when it never came up.
struct Started {
    programs: PathBuf,
    folder: PathBuf,
    is_root: bool,
}

impl Server {
    /// Starts a server, after installing it where it is missing and may be installed; or takes the one that is named in the
    /// environment.
    pub(crate) fn start() -> Result<Self, String> {
        if let Ok(url) = std::env::var(VARIABLE) {
            return Ok(Self { url, _started: None });
        }
        let is_root = is_root();
        let programs = programs()?;
        let folder = std::env::temp_dir().join(format!("lockgate-postgres-{}", std::process::id()));
        let started = Started { programs, folder, is_root };
        let port = started.launch()?;
        Ok(Self { url: format!("postgres://postgres@127.0.0.1:{port}/postgres"), _started: Some(started) })
    }

    /// What to set for the tests.
    pub(crate) fn environment(&self) -> (&'static str, &str) {
        (VARIABLE, &self.url)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Nothing in it is worth a checkpoint.
        let _ = self.program("pg_ctl").args(["stop", "-m", "immediate", "-D"]).arg(self.data()).output();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Started {
    /// Makes the data and starts the server. Answers with its port.
    fn launch(&self) -> Result<u16, String> {
        run(self.as_its_user("mkdir").args(["-m", "700"]).arg(&self.folder))?;
        run(self
            .program("initdb")
            .args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(self.data()))?;
        let port = free_port()?;
        // Nothing has to outlive the tests. No standby ever answers, and who waits for one says so (`synchronous_commit`).
        let options = format!(
            "-F -p {port} -k {} -c listen_addresses=127.0.0.1 -c max_connections=300 -c synchronous_commit=local \
             -c synchronous_standby_names=nobody",
            self.folder.display()
        );
        run(self
            .program("pg_ctl")
            .args(["start", "-w", "-s", "-o", &options, "-l"])
            .arg(self.folder.join("log"))
            .arg("-D")
            .arg(self.data()))?;
        Ok(port)
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn program(&self, name: &str) -> Command {
        self.as_its_user(&self.programs.join(name).display().to_string())
    }

    /// The server refuses to run as root.
    fn as_its_user(&self, program: &str) -> Command {
        let mut started = if self.is_root {
            let mut runuser = command(&administrators("runuser"));
            runuser.args(["-u", "postgres", "--", program]);
            runuser
        } else {
            command(program)
        };
        // Whoever it runs as may not see the checkout.
        started.current_dir(std::env::temp_dir());
        started
    }
}

/// The folder with the newest server that is new enough.
fn programs() -> Result<PathBuf, String> {
    if let Some(found) = newest() {
        return Ok(found);
    }
    install("postgresql")?;
    newest().ok_or_else(|| {
        format!(
            "xtask: PostgreSQL {OLDEST} or newer is missing: install it (`apt-get install postgresql`), or set {VARIABLE} \
             to the URL of a server's administrator"
        )
    })
}

/// A program that only administrators need: its folder may not be in `PATH`.
fn administrators(program: &str) -> String {
    let found =
        ["/usr/sbin", "/sbin"].map(|folder| Path::new(folder).join(program)).into_iter().find(|path| path.exists());
    found.map_or_else(|| program.to_owned(), |path| path.display().to_string())
}

fn newest() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let releases =
        std::fs::read_dir(RELEASES).into_iter().flatten().flatten().map(|release| release.path().join("bin"));
    let found = std::env::split_paths(&path).chain(releases).filter_map(|folder| Some((release(&folder)?, folder)));
    found.filter(|(release, _)| *release >= OLDEST).max().map(|(_, folder)| folder)
}

/// The release of the server in a folder: 15 for `initdb (PostgreSQL) 15.18 (Debian …)`.
fn release(folder: &Path) -> Option<u32> {
    let version = said(command(folder.join("initdb").to_str()?).arg("--version"))?;
    version.split_whitespace().nth(2)?.split(|digit: char| !digit.is_ascii_digit()).next()?.parse().ok()
}

/// A port that nobody uses now.
fn free_port() -> Result<u16, String> {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    port.map(|address| address.port()).map_err(|error| format!("xtask: no port is free: {error}"))
}
