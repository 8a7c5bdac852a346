//! Programs before and after a call.

use serde_json::Value;

use crate::command::{Desk, Done};

const TOOLS: &str = r#"
[[tools.mock]]
name = "look"
description = "Looks."
effect = "read"
count_file = "looked"
input_schema = { type = "object", properties = { note = { type = "string" } } }
behaviour = [{ returns = { seen = "all of it" } }]

[[tools.mock]]
name = "pay"
description = "Pays."
permission = "allow"
count_file = "paid"
input_schema = { type = "object", properties = { note = { type = "string" } } }
behaviour = [{ returns = { paid = true } }]
"#;

/// A desk with a run file of these tables. Programs find the shell's own commands, and nothing else.
fn desk(tables: &str) -> Desk {
    let desk = Desk::empty();
    desk.write("run.toml", &format!("{tables}\n{TOOLS}"));
    desk
}

/// A hook that is a script.
fn hook(name: &str, when: &str, script: &str, more: &str) -> String {
    format!("[[hook]]\nname = '{name}'\nwhen = '{when}'\ncommand = ['/bin/sh', '-c', '''{script}''']\n{more}\n")
}

fn code(done: &Done) -> String {
    done.json()["error"]["code"].as_str().unwrap_or("ok").to_owned()
}

fn lines(desk: &Desk, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(desk.path(name)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn before_a_call_only_exit_code_0_lets_it_pass() {
    for (script, expected, ran) in [
        ("exit 0", "ok", 1),
        ("echo approve; echo '{\"arguments\":{}}'; exit 0", "ok", 1),
        ("echo the till is closed; exit 1", "policy_denied", 0),
        ("kill -9 $$", "policy_denied", 0),
        ("/no/such/program", "policy_denied", 0),
    ] {
        let desk = desk(&hook("till", "before", script, "tools = ['p*']"));
        let done = desk.run(&["call", "run.toml", "pay", "{}", "--audit"]);
        assert_eq!((code(&done).as_str(), desk.entered("paid")), (expected, ran), "{}", done.whole()); // Z-47
        if expected != "ok" {
            let policies = done.json()["audit"]["policies"].clone();
            assert_eq!(policies, serde_json::json!(["native:declared-allow", "hook:till"]));
        }
        // It is about other tools.
        assert_eq!(code(&desk.run(&["call", "run.toml", "look", "{}"])), "ok");
    }
    let desk = desk(&hook("till", "before", "echo the till is closed >&2; exit 1", ""));
    let whole = desk.run(&["call", "run.toml", "look", "--audit", "--format", "human"]).whole();
    // How long it took is another answer each time.
    insta::assert_snapshot!("blocked", whole.split("  microseconds").next().unwrap());
    assert_eq!(desk.run(&["journal", "check"]).code, Some(0));
}

#[test]
fn one_that_takes_too_long_stops_the_call() {
    let desk = desk(&hook("slow", "before", "sleep 60 & wait", "timeout = '100ms'"));
    let done = desk.run(&["call", "run.toml", "pay", "{}", "--audit"]);
    assert_eq!((code(&done).as_str(), desk.entered("paid")), ("policy_denied", 0));
    assert_eq!(done.json()["audit"]["text"], "hook `slow` failed: no answer in time");
}

/// What is asked when a run goes on is asked again, with the yes in hand.
#[test]
fn a_run_that_goes_on_asks_the_hook_again() {
    for (mood, ran) in [("open", 1), ("closed", 0)] {
        let desk = Desk::new();
        let file = std::fs::read_to_string(desk.path("ticket.toml")).unwrap();
        let script = "echo asked >> asked; read mood < mood; [ $mood = open ]";
        desk.write("ticket.toml", &format!("{file}\n{}", hook("mood", "before", script, "tools = ['create_ticket']")));
        desk.write("mood", "open\n");
        let waiting = desk.run(&["run", "ticket.toml", "--format", "json"]);
        assert_eq!(waiting.code, Some(3), "{}", waiting.whole());
        let call = waiting.json()["calls"][0].clone();
        let id = call["approval_id"].as_str().unwrap();
        assert_eq!(desk.run(&["approvals", "approve", id]).code, Some(0));
        desk.write("mood", &format!("{mood}\n"));
        let run = waiting.json()["run_id"].as_str().unwrap().to_owned();
        let resumed = desk.run(&["runs", "resume", &run, "--format", "json"]);
        assert_eq!(desk.entered("create_ticket.count"), ran, "{}", resumed.whole());
        assert_eq!(desk.entered("asked"), 2 * "asked\n".len());
        let approval = desk.run(&["approvals", "show", id, "--format", "json"]).json();
        assert_eq!(approval["consumed_at"].is_null(), ran == 0, "{approval}");
        assert_eq!(desk.run(&["journal", "check"]).code, Some(0));
    }
}

/// What a run file names is beside it, wherever the command is started from.
#[cfg(unix)]
#[test]
fn programs_are_those_beside_the_run_file() {
    use std::os::unix::fs::PermissionsExt as _;

    let veto = ["echo the till is closed; exit 1", "exit 0"];
    for (command, [there, here]) in
        [("['./till.sh']", veto), ("['/bin/sh', 'till.sh']", veto), ("['./till.sh']", [veto[1], veto[0]])]
    {
        let desk = Desk::empty();
        std::fs::create_dir(desk.path("there")).unwrap();
        let tables = format!("[[hook]]\nname = 'till'\nwhen = 'before'\ncommand = {command}\n")
            + &hook("told", "after", "cat > /dev/null; echo told >> told", "");
        desk.write("there/run.toml", &format!("{tables}\n{TOOLS}"));
        for (file, script) in [("there/till.sh", there), ("till.sh", here)] {
            desk.write(file, &format!("#!/bin/sh\n{script}\n"));
            std::fs::set_permissions(desk.path(file), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let done = desk.run(&["call", "there/run.toml", "pay", "{}"]);
        let (expected, ran) = if there == "exit 0" { ("ok", 1) } else { ("policy_denied", 0) };
        assert_eq!((code(&done).as_str(), desk.entered("there/paid")), (expected, ran), "{}", done.whole());
        assert_eq!((desk.entered("there/told"), desk.entered("told")), (ran * "told\n".len(), 0));
    }
}

/// A run goes on from another folder: the program that stops it is the one that its run file names.
#[cfg(unix)]
#[test]
fn a_resume_from_another_folder_starts_no_other_program() {
    let desk = Desk::new();
    let file = std::fs::read_to_string(desk.path("ticket.toml")).unwrap();
    let tables = "[[hook]]\nname = 'mood'\nwhen = 'before'\ncommand = ['/bin/sh', 'mood.sh']\ntools = ['create_ticket']\n\n\
        [[notify]]\ncommand = ['/bin/sh', 'told.sh']\n";
    desk.write("ticket.toml", &format!("{file}\n{tables}"));
    std::fs::create_dir(desk.path("elsewhere")).unwrap();
    desk.write("mood.sh", "exit 0\n");
    desk.write("elsewhere/mood.sh", "echo decoy >> ../decoy; exit 0\n");
    desk.write("told.sh", "echo told >> told\n");
    desk.write("elsewhere/told.sh", "echo decoy >> ../decoy\n");
    let waiting = desk.run(&["run", "ticket.toml", "--format", "json"]);
    assert_eq!(waiting.code, Some(3), "{}", waiting.whole());
    let id = waiting.json()["calls"][0]["approval_id"].as_str().unwrap().to_owned();
    let journal = format!("sqlite:{}", desk.path(".lockgate/journal.db").display());
    let elsewhere = |arguments: &[&str]| {
        let arguments = [arguments, &["--journal", &journal]].concat();
        let output = desk.command(&arguments).current_dir(desk.path("elsewhere")).output().unwrap();
        Done::of(&arguments, &output)
    };
    assert_eq!(elsewhere(&["approvals", "approve", &id]).code, Some(0));
    desk.write("mood.sh", "echo no; exit 1\n");
    let resumed = elsewhere(&["runs", "resume", waiting.json()["run_id"].as_str().unwrap(), "--format", "json"]);
    assert_eq!(desk.entered("create_ticket.count"), 0, "{}", resumed.whole());
    assert_eq!(desk.entered("decoy"), 0, "{}", resumed.whole());
    // That somebody is asked, and that it was decided.
    assert_eq!(desk.entered("told"), 2 * "told\n".len());
}

/// A hook that calls what it guards does not do so for ever.
#[test]
fn a_hook_that_runs_lockgate_starts_no_hook() {
    let again = "echo once >> started; $LOCKGATE call run.toml pay '{}' --audit > inner; exit 0";
    let tables = hook("again", "before", again, "env = ['LOCKGATE']\ntools = ['pay']")
        + &hook("told", "after", "echo told >> told", "env = ['LOCKGATE']");
    let desk = desk(&tables);
    let mut command = desk.command(&["call", "run.toml", "pay", "{}"]);
    command.env("LOCKGATE", env!("CARGO_BIN_EXE_lockgate"));
    let done = Done::of(&[], &command.output().unwrap());
    assert_eq!((code(&done).as_str(), desk.entered("paid")), ("ok", 1), "{}", done.whole());
    assert_eq!((desk.entered("started"), desk.entered("told")), ("once\n".len(), "told\n".len())); // S-59
    let inner: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("inner")).unwrap()).unwrap();
    assert_eq!(inner["error"]["code"], "policy_denied");
    assert_eq!(inner["audit"]["text"], "hook `again` failed: its program is not started: a hook started this process");
    // Also where somebody says so who does not count.
    for depth in ["1", "2", "much", ""] {
        let mut command = desk.command(&["call", "run.toml", "pay", "{}"]);
        command.env("LOCKGATE_HOOK_DEPTH", depth);
        let done = Done::of(&[], &command.output().unwrap());
        assert_eq!(code(&done), "policy_denied", "{depth}");
        for what in ["calls that a hook would be asked about are blocked", "no hook is told of calls that ran"] {
            assert!(done.stderr.contains(&format!("so it starts none itself: {what}")), "{}", done.whole());
        }
    }
}

/// Only what is so is said.
#[test]
fn under_a_hook_each_half_is_warned_of_by_itself() {
    for (when, expected, said, unsaid) in
        [("before", "policy_denied", "are blocked", "is told"), ("after", "ok", "is told", "are blocked")]
    {
        let desk = desk(&hook("one", when, "cat > /dev/null", ""));
        let mut command = desk.command(&["call", "run.toml", "pay", "{}"]);
        command.env("LOCKGATE_HOOK_DEPTH", "1");
        let done = Done::of(&[], &command.output().unwrap());
        assert_eq!(code(&done), expected);
        assert!(done.stderr.contains(said) && !done.stderr.contains(unsaid), "{}", done.whole());
    }
}

#[test]
fn after_a_call_somebody_is_told_and_nothing_changes() {
    let tables = hook("log", "after", "cat >> told.jsonl; echo >> told.jsonl", "")
        + &hook("only-pay", "after", "cat >> paid.jsonl; echo >> paid.jsonl", "tools = ['pay']")
        + &hook("broken", "after", "echo deny; exit 1", "")
        + &hook("gone", "after", "exec /no/such/program", "")
        + &hook("slow", "after", "sleep 60 & wait", "timeout = '50ms'");
    let desk = desk(&tables);
    for (tool, arguments, expected) in [
        ("pay", "{}", "ok"),
        ("look", "{}", "ok"),
        ("look", "{\"note\":1}", "invalid_arguments"),
        ("none", "{}", "unknown_tool"),
    ] {
        let done = desk.run(&["call", "run.toml", tool, arguments]);
        assert_eq!(code(&done), expected, "{}", done.whole());
    }
    let told = lines(&desk, "told.jsonl");
    // What did not run has no afterwards.
    assert_eq!(told.iter().map(|told| &told["result"]["tool_name"]).collect::<Vec<_>>(), ["pay", "look"]);
    assert_eq!((&told[0]["v"], &told[0]["type"]), (&1.into(), &"call.after".into()));
    assert_eq!((&told[0]["status"], &told[0]["effect_state"]), (&"EXECUTED".into(), &"done".into()));
    assert_eq!(told[1]["result"]["data"], serde_json::json!({"seen": "all of it"}));
    assert_eq!(lines(&desk, "paid.jsonl").len(), 1);
    assert_eq!(desk.run(&["journal", "check"]).code, Some(0));
}

#[test]
fn of_a_long_result_it_is_told_all_but_the_data() {
    let desk = desk(&("gate.max_output_bytes = 0\n".to_owned() + &hook("log", "after", "cat > told.json", "")));
    let file = std::fs::read_to_string(desk.path("run.toml")).unwrap();
    desk.write("run.toml", &file.replace("all of it", &"x".repeat(70_000)));
    assert_eq!(code(&desk.run(&["call", "run.toml", "look"])), "ok");
    let told: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("told.json")).unwrap()).unwrap();
    assert_eq!((&told["result"]["ok"], &told["result"]["data"]), (&true.into(), &Value::Null));
    assert_eq!(told["data_left_out"], "{\"seen\":\"\"}".len() + 70_000);
}

#[test]
fn no_secret_gets_into_a_hook_or_out_of_it() {
    let canary = "canary-Yellow-Bird-77";
    let before =
        "cat >> before.jsonl; echo >> before.jsonl; echo $TOKEN; echo $TOKEN >&2; read answer < answer; exit $answer";
    let tables = "tools.secrets_from_env = ['TOKEN']\n".to_owned()
        + &hook("guard", "before", before, "env = ['TOKEN']")
        + &hook("log", "after", "cat >> after.jsonl; echo >> after.jsonl", "");
    let desk = desk(&tables);
    for (answer, expected) in [("0", "ok"), ("1", "policy_denied")] {
        desk.write("answer", &format!("{answer}\n"));
        let mut command = desk.command(&["call", "run.toml", "pay", &format!(r#"{{"note":"{canary}"}}"#), "--audit"]);
        command.env("TOKEN", canary);
        let done = Done::of(&[], &command.output().unwrap());
        assert_eq!(code(&done), expected, "{}", done.whole());
        assert!(!done.whole().contains("Yellow"), "{}", done.whole());
    }
    assert_eq!((lines(&desk, "before.jsonl").len(), lines(&desk, "after.jsonl").len()), (2, 1));
    assert!(lines(&desk, "before.jsonl")[0]["arguments"]["note"].as_str().unwrap().starts_with("[redacted:TOKEN#"));
    let mut files: Vec<_> = std::fs::read_dir(desk.path(".lockgate")).unwrap().collect();
    files.extend(std::fs::read_dir(desk.path(".")).unwrap());
    for file in files.into_iter().map(|file| file.unwrap().path()).filter(|file| file.is_file()) {
        let bytes = std::fs::read(&file).unwrap();
        let held = bytes.windows(6).any(|window| window == b"Yellow");
        assert!(!held, "{}", file.display()); // Z-47, R-178
    }
}

#[test]
fn hooks_that_cannot_be_meant() {
    let one =
        |name: &str, more: &str| format!("[[hook]]\nname = '{name}'\nwhen = 'before'\ncommand = ['true']\n{more}\n");
    for (name, tables) in [
        ("no_such_tool", one("guard", "tools = ['pya']")),
        ("no_such_tools", one("guard", "tools = ['pay', 'fs_*']")),
        ("no_tools", one("guard", "tools = []")),
        ("twice", one("guard", "") + &one("guard", "")),
        ("no_name", one("two words", "")),
        ("no_program", "[[hook]]\nname = 'a'\nwhen = 'after'\ncommand = []".to_owned()),
        ("no_time", one("guard", "timeout = '0s'")),
        ("at_another_time", "[[hook]]\nname = 'a'\nwhen = 'during'\ncommand = ['true']".to_owned()),
    ] {
        let done = desk(&tables).run(&["call", "run.toml", "pay", "{}"]);
        assert_eq!(done.code, Some(2), "{}", done.whole());
        insta::assert_snapshot!(name, done.whole());
    }
}
