//! Clients of MCP that others wrote: installed as pinned, and let loose on our fixture, or on whatever serves a URL.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files::write;
use crate::node::Node;
use crate::peer::Peer;
use crate::python;
use crate::steps::{built, cargo, command};

/// The lighter ones: one environment of Python has all of them, in less than a minute.
const LIGHT: [&str; 3] = ["fastmcp", "openai_agents", "pydantic_ai"];

/// What has to hold before a change lands: the lighter ones against the gateway, which is built already.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let target = root.join("target/mcp-clients");
    python::environment(&target.join("venv"), &root.join("proof/mcp-clients/requirements.txt"))?;
    let (server, what) = gateway(root, &target)?;
    let mut play = player(root, &target);
    play.arg(what).args(["--url", server.url(), "--only"]).args(LIGHT);
    played(play)
}

/// Installs them into `target/mcp-clients`, and plays a plan with each: with `--through` on the gateway before our fixture, with
/// `PLAN.json --url URL …` on another server, and without on the fixture itself.
pub(crate) fn run(root: &Path, words: &[String]) -> Result<(), String> {
    let own = root.join("proof/mcp-clients");
    let node = Node::ensure(root)?;
    let target = node.install(root, "mcp-clients")?;
    // One of them wants an older release of the protocol's own package.
    for (environment, requirements) in [("venv", "requirements.txt"), ("venv-langchain", "requirements-langchain.txt")]
    {
        python::environment(&target.join(environment), &own.join(requirements))?;
    }
    let mut play = player(root, &target);
    play.env("NODE", node.program());
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let through = words.iter().position(|word| *word == "--through").map(|place| words.remove(place)).is_some();
    let server = match (through, words.contains(&"--url")) {
        (true, _) => {
            build("mcp-peer")?;
            build("lockgate-cli")?;
            Some(gateway(root, &target)?)
        }
        (false, false) => Some((fixture(root)?, own.join("fixture.json"))),
        (false, true) => None,
    };
    if let Some((server, plan)) = &server {
        play.arg(plan).args(["--url", server.url()]);
    }
    play.args(words);
    played(play)
}

/// What starts the clients that are installed in this folder.
fn player(root: &Path, target: &Path) -> Command {
    let mut play = command(&python::python(&target.join("venv")));
    play.arg("-B").arg(root.join("proof/mcp-clients/run.py")).arg(target);
    play
}

fn played(mut play: Command) -> Result<(), String> {
    match play.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("xtask: not every client saw what it should".to_owned()),
        Err(error) => Err(format!("xtask: {play:?} cannot be started: {error}")),
    }
}

fn fixture(root: &Path) -> Result<Peer, String> {
    build("mcp-peer")?;
    Peer::start(command(&built(root, "mcp-peer")).args(["serve", "--http", "127.0.0.1:0"]))
}

/// The gateway before the fixture, where one tool waits for approval, and the plan of what is to be called, which is written into the folder.
fn gateway(root: &Path, folder: &Path) -> Result<(Peer, PathBuf), String> {
    let (peer, lockgate) = (built(root, "mcp-peer"), built(root, "lockgate"));
    let journal = folder.join("journal");
    // The approvals of an earlier run are none of this one.
    let _ = std::fs::remove_dir_all(&journal);
    let journal = format!("sqlite:{}", journal.join("journal.db").display());
    let run_file = folder.join("gateway.toml");
    write(
        &run_file,
        format!(
            "[journal]\nurl = \"{journal}\"\n\n[mcp.peer]\ncommand = [\"{peer}\", \"serve\", \"--stdio\"]\n\
             permission = \"allow\"\nrelay = []\n\n[mcp.peer.tool.test_simple_text]\npermission = \"ask\"\n"
        ),
    )?;
    let approve = serde_json::json!([lockgate, "approvals", "approve", "{id}", "--journal", journal]);
    let plan = serde_json::json!({
        "calls": { "name": "peer__greet", "arguments": { "name": "Ann" }, "holds": "Hello, Ann!" },
        "fails": { "name": "peer__test_error_handling", "arguments": {}, "holds": "intentionally returns an error" },
        "asks": { "name": "peer__test_simple_text", "arguments": {}, "holds": "simple text response", "approve": approve }
    });
    let plan_file = folder.join("plan.json");
    write(&plan_file, plan.to_string())?;
    let served = Peer::start(command(&lockgate).arg("serve").arg(run_file).args(["--bind", "127.0.0.1:0"]))?;
    Ok((served, plan_file))
}

fn build(package: &str) -> Result<(), String> {
    cargo("build", &["--package", package, "--locked", "--quiet"], &[])
}
