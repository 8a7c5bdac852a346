//! Servers of MCP that others wrote: installed as pinned, compared with themselves, directly and through the gateway, and hurt behind it.

use std::path::Path;

use crate::node::Node;
use crate::python;
use crate::steps::{built, cargo, command};

/// Installs them into `target/mcp-servers`, and compares what they say. `--through` compares with what comes through the gateway, and then hurts
/// each of them behind it.
pub(crate) fn run(root: &Path, words: &[String]) -> Result<(), String> {
    let own = root.join("proof/mcp-servers");
    let node = Node::ensure(root)?;
    let target = node.install(root, "mcp-servers")?;
    // The last of them wants an older release of the protocol's own package.
    for (environment, requirements) in [("venv", "requirements.txt"), ("venv-sqlite", "requirements-sqlite.txt")] {
        python::environment(&target.join(environment), &own.join(requirements))?;
    }
    let play = |program: &str, words: &[&str]| {
        let mut play = command(&python::python(&target.join("venv")));
        play.arg("-B").arg(own.join(program)).arg(&target).args(words).env("NODE", node.program());
        match play.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(format!("xtask: {program}: not everything is as it has to be")),
            Err(error) => Err(format!("xtask: {play:?} cannot be started: {error}")),
        }
    };
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some(place) = words.iter().position(|word| *word == "--through") else {
        return play("compare.py", &words);
    };
    words.remove(place);
    cargo("build", &["--package", "lockgate-cli", "--locked", "--quiet"], &[])?;
    let lockgate = built(root, "lockgate");
    play("compare.py", &[&["--through", &lockgate], &words[..]].concat())?;
    play("hurt.py", &[&[&*lockgate], &words[..]].concat())
}
