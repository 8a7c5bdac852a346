//! The official conformance suite of the protocol: against our fixture, our client, the gateway, or any other server.
//!
//! The suite is pinned in `proof/mcp-conformance`, installed below `target`, and needs no network after the first time. What it finds
//! must hold, or be explained in `proof/mcp-conformance.toml`.

mod checks;
mod expected;
mod subject;

use std::path::{Path, PathBuf};

use crate::files::read;
use crate::node::Node;
use crate::steps::{built, cargo};
use checks::Checks;
use expected::Expected;
use subject::Subject;

/// The revisions that are looked at: the newest of each era.
const REVISIONS: [&str; 2] = ["2026-07-28", "2025-11-25"];

const EXPLAINED: &str = "proof/mcp-conformance.toml";

/// Runs the suite against whom these words name.
pub(crate) fn run(root: &Path, words: &[String]) -> Result<(), String> {
    let subject = Subject::read(words)?;
    subject.build()?;
    look(root, &subject)
}

/// What has to hold before a change lands: the gateway before servers of either era, and our server and client by themselves.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    // Of all together, since that is what the tests were built of: anything less would be built twice, with other features.
    cargo("build", &["--workspace", "--bins", "--examples", "--locked", "--quiet"], &[])?;
    let (server, client) = (built(root, "examples/conformance_server"), built(root, "examples/conformance_client"));
    for subject in [Subject::Gateway, Subject::Started(vec![server]), Subject::Client(client)] {
        look(root, &subject)?;
    }
    Ok(())
}

/// Runs the suite, prints what it found, and fails on everything that is not explained.
#[expect(clippy::print_stdout, reason = "the table is what was asked for")]
fn look(root: &Path, subject: &Subject) -> Result<(), String> {
    let suite = Suite::ensure(root)?;
    let runs = subject.runs(root, &suite)?;
    let expected = Expected::read(&read(&root.join(EXPLAINED))?)?;
    println!("{}", table(&runs));
    let mut faults = Vec::new();
    for run in &runs {
        for said in run.remarks(&expected) {
            println!("{said}");
        }
        faults.extend(run.faults(&expected));
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!("xtask: {EXPLAINED} does not say what was found:\n  {}", faults.join("\n  ")))
}

/// The installed suite.
struct Suite {
    node: Node,
    program: PathBuf,
    /// Where it writes what it found, a folder a run.
    results: PathBuf,
}

impl Suite {
    fn ensure(root: &Path) -> Result<Self, String> {
        let node = Node::ensure(root)?;
        let installed = node.install(root, "mcp-conformance")?;
        let program = installed.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
        Ok(Self { node, program, results: installed.join("results") })
    }

    /// Looks at a server.
    fn server(&self, subject: &str, revision: &str, url: &str) -> Result<Run, String> {
        self.run(subject, revision, &["server", "--url", url])
    }

    /// Looks at a client, which is started once a scenario.
    fn client(&self, subject: &str, revision: &str, command: &str) -> Result<Run, String> {
        self.run(subject, revision, &["client", "--command", command])
    }

    #[expect(clippy::print_stderr, reason = "a development tool talks to people")]
    fn run(&self, subject: &str, revision: &str, what: &[&str]) -> Result<Run, String> {
        eprintln!("xtask: conformance of {subject}, revision {revision}");
        let results = self.results.join(format!("{subject} {revision}").replace(' ', "-"));
        // What an earlier run found is not what this one finds.
        let _ = std::fs::remove_dir_all(&results);
        let mut started = self.node.command();
        started.arg(&self.program).args(what).args(["--requirements", revision, "--output-dir"]).arg(&results);
        let output = started.output().map_err(|error| format!("xtask: {started:?} cannot be started: {error}"))?;
        let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let checks = Checks::read(&results)?;
        let promised = promised(&said).ok_or_else(|| format!("xtask: the suite did not run: {complained}"))?;
        if checks.scenarios() != promised {
            return Err(format!("xtask: {} of {promised} scenarios came to an end:\n{complained}", checks.scenarios()));
        }
        Ok(Run { subject: subject.to_owned(), revision: revision.to_owned(), checks })
    }
}

/// How many scenarios the suite says that it runs: 50 for `Running requirements 2026-07-28 (50 scenarios) against …`.
fn promised(said: &str) -> Option<usize> {
    let line = said.lines().find(|line| line.starts_with("Running "))?;
    line.split_once('(')?.1.split_whitespace().next()?.parse().ok()
}

/// What the suite found in one subject by one revision.
struct Run {
    subject: String,
    revision: String,
    checks: Checks,
}

impl Run {
    /// What is worth a look: warnings, and failures that are explained.
    fn remarks(&self, expected: &Expected) -> Vec<String> {
        let place = format!("{} {}", self.subject, self.revision);
        let warnings = self.checks.warnings().map(|check| format!("warning: {place}: {check}"));
        let failures = self.checks.failures().filter_map(|check| {
            let reason = expected.reason(&self.subject, &self.revision, &check.scenario, &check.id)?;
            Some(format!("expected: {place}: {check}\n          {reason}"))
        });
        warnings.chain(failures).collect()
    }

    /// What is not explained, and what is explained but did not happen.
    fn faults(&self, expected: &Expected) -> Vec<String> {
        let place = format!("{} {}", self.subject, self.revision);
        let unexplained = self
            .checks
            .failures()
            .filter(|check| expected.reason(&self.subject, &self.revision, &check.scenario, &check.id).is_none());
        let unexplained = unexplained.map(|check| format!("failed: {place}: {check}"));
        let failed: Vec<(&str, &str)> =
            self.checks.failures().map(|check| (check.scenario.as_str(), check.id.as_str())).collect();
        let passed = expected.that_passed(&self.subject, &self.revision, &failed);
        let passed = passed.into_iter().map(|what| format!("expected to fail, but passed: {place}: {what}"));
        unexplained.chain(passed).collect()
    }
}

fn table(runs: &[Run]) -> String {
    let head =
        "| subject | revision | scenarios | passed | failed | warnings | skipped |\n|---|---|---|---|---|---|---|";
    let rows = runs.iter().map(|Run { subject, revision, checks }| {
        let (scenarios, passed, failed) = (checks.scenarios(), checks.passed(), checks.failures().count());
        let (warnings, skipped) = (checks.warnings().count(), checks.skipped());
        format!("| {subject} | {revision} | {scenarios} | {passed} | {failed} | {warnings} | {skipped} |")
    });
    std::iter::once(head.to_owned()).chain(rows).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
