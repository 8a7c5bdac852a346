//! Servers of MCP that others wrote: installed as pinned, and compared with themselves, directly and through the gateway.

use std::path::Path;

use crate::node::Node;
use crate::python;
use crate::steps::{built, cargo, command};

/// Installs them into `target/mcp-servers`, and compares what they say. `--through` compares with what comes through the gateway.
pub(crate) fn run(root: &Path, words: &[String]) -> Result<(), String> {
    let own = root.join("proof/mcp-servers");
    let node = Node::ensure(root)?;
    let target = node.install(root, "mcp-servers")?;
    // The last of them wants an older release of the protocol's own package.
    for (environment, requirements) in [("venv", "requirements.txt"), ("venv-sqlite", "requirements-sqlite.txt")] {
        python::environment(&target.join(environment), &own.join(requirements))?;
    }
    let mut compare = command(&python::python(&target.join("venv")));
    compare.arg("-B").arg(own.join("compare.py")).arg(&target).env("NODE", node.program());
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(place) = words.iter().position(|word| *word == "--through") {
        words.remove(place);
        cargo("build", &["--package", "lockgate-cli", "--locked", "--quiet"], &[])?;
        compare.arg("--through").arg(built(root, "lockgate"));
    }
    match compare.args(words).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("xtask: not everything is the same".to_owned()),
        Err(error) => Err(format!("xtask: {compare:?} cannot be started: {error}")),
    }
}
