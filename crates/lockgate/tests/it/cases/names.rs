//! A tool is found by its exact name or not at all (R-066…R-069, R-084, S-04).

use lockgate::contract::effect::Permission;
use lockgate::mcp::upstream::{NameOf, name_of};
use lockgate::models::WireNames;
use lockgate::registry::RegisterError;

use super::file::{Case, proposed};
use super::wire::{Wire, assistant, done};
use crate::servers::{assembled, called};
use crate::world::{World, at_once, echo};
use lockgate::prelude::*;

fn transfer_world() -> World {
    let world = World::in_memory();
    world.add(Case::named("args-extra-field").tool().permission(Permission::Allow), echo());
    world
}

pub(super) async fn unknown_names(case: Case) {
    let world = transfer_world();
    let ran = world.run(case.calls()).await;
    assert_eq!(ran.codes(), ["unknown_tool", "ok"]); // R-068
    assert_eq!(ran.result.calls[0].tool_version, None); // R-086
    assert_eq!(ran.result.calls[1].tool_version.as_deref(), Some("1.0"));
    assert_eq!(ran.settled(0).audit.reason.as_deref(), Some("not_registered"));
    assert_eq!(world.entered().len(), 1);
    assert_eq!(ran.stop(), ("completed", "final_answer")); // R-107
}

pub(super) async fn names_of_a_server(case: Case) {
    names_on_the_wire(case.clone()).await;
    let server = case.at("/input/server").as_str().unwrap().into_owned();
    let raw_names = case.texts("/input/tools");
    let raws: Vec<&str> = raw_names.iter().map(String::as_str).collect();
    let file = format!("[mcp.{server}]\ncommand = ['x']\npermission = 'allow'\n");
    let assembly = assembled(&file, &[(&server, &raws)]).await;
    let aliases: Vec<_> = raws.iter().map(|raw| name_of(&server, &server, NameOf::Tool, raw)).collect();
    let mut sorted = aliases.clone();
    sorted.sort();
    assert_eq!(assembly.registry.names(), sorted, "a pure function of server and raw name, and no two are one");
    for (raw, alias) in raws.iter().zip(&aliases) {
        assert!(alias.len() <= 64 && alias.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
        assert_eq!(called(&assembly, alias).await, format!("{server}: {raw}"), "the call carries the raw name");
    }
}

async fn names_on_the_wire(case: Case) {
    let raw_names = case.texts("/input/tools");
    let mut world = World::in_memory();
    for name in &raw_names {
        let answer = name.clone();
        world.add(ToolSpec::builder(name).effect(Effect::Read), at_once(move |_| Ok(Output::of(&answer))));
    }
    let wire = Wire::start(vec![
        Box::new(|request| {
            let tools = request["tools"].as_array().unwrap().iter();
            let aliases = tools.map(|tool| proposed("c", tool["function"]["name"].as_str().unwrap(), "{}"));
            assistant(&aliases.collect::<Vec<_>>())
        }),
        Box::new(|_| done()),
    ]);
    world.model = Some(wire.model());
    let ran = world.run(Vec::new()).await;
    // `last_request` looks at every name of the request. Each alias led to its own tool, under its raw name.
    wire.last_request();
    assert_eq!(ran.codes(), vec!["ok"; raw_names.len()]);
    for (index, call) in ran.result.calls.iter().enumerate() {
        assert!(raw_names.contains(&call.tool_name));
        assert_eq!(ran.told(index), serde_json::to_string(&call.tool_name).unwrap());
    }
    // A pure function of the names, whatever the order in which tools connect.
    let of = |names: &[String]| {
        let wire = WireNames::for_tools(names.iter().map(String::as_str));
        raw_names.iter().map(|name| wire.wire(name).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut reversed = raw_names.clone();
    reversed.reverse();
    assert_eq!(of(&raw_names), of(&reversed));
    let distinct: std::collections::BTreeSet<_> = of(&raw_names).into_iter().collect();
    assert_eq!(distinct.len(), raw_names.len());
    for (name, alias) in raw_names.iter().zip(of(&raw_names)) {
        assert_eq!(
            WireNames::for_tools([name.as_str()]).wire(name),
            Some(alias.as_str()),
            "nor whatever else there is"
        );
    }
}

pub(super) async fn one_name_twice(case: Case) {
    let servers: Vec<_> = case.at("/input/servers").members().map(|(server, _)| server.into_owned()).collect();
    let tables: Vec<_> =
        servers.iter().map(|server| format!("[mcp.{server}]\ncommand = ['x']\npermission = 'allow'\n")).collect();
    let file = tables.concat();
    let names: Vec<_> = servers.iter().map(|server| case.texts(&format!("/input/servers/{server}"))).collect();
    let names: Vec<Vec<&str>> = names.iter().map(|names| names.iter().map(String::as_str).collect()).collect();
    let offered: Vec<_> = servers.iter().map(String::as_str).zip(names.iter().map(Vec::as_slice)).collect();
    let assembly = assembled(&file, &offered).await;
    // Qualified, both are reachable …
    for (server, names) in &offered {
        for name in *names {
            assert_eq!(called(&assembly, &format!("{server}__{name}")).await, format!("{server}: {name}"));
        }
    }
    // … and unqualified, the second is refused.
    let world = World::in_memory();
    let mut unqualified = offered.iter().flat_map(|(server, names)| {
        names.iter().map(|name| ToolSpec::builder(*name).source(*server).effect(Effect::Read))
    });
    world.registry.register(world.spec(unqualified.next().unwrap(), echo())).unwrap();
    let refused = world.registry.register(world.spec(unqualified.next().unwrap(), echo())).unwrap_err(); // R-022, R-025
    let RegisterError::Duplicate { existing, refused, .. } = refused else { panic!("{refused}") };
    assert_eq!([existing, refused], servers[..]);
}

/// Names that are nearly `transfer`, or that mean something elsewhere.
const NEARLY: &[&str] = &[
    "Transfer",
    "TRANSFER",
    "transfer ",
    " transfer",
    "transfer\n",
    "transfer\t",
    "transfer\0",
    "transfer\u{200b}",
    "trans\u{ad}fer",
    "\u{feff}transfer",
    "transfer\u{301}",
    "trаnsfer",
    "ｔｒａｎｓｆｅｒ",
    "ﬀ",
    "transfers",
    "transfe",
    "transfer()",
    "transfer*",
    "*",
    "trans*",
    "functions.transfer",
    "default_api:transfer",
    "mcp__s1__transfer",
    "./transfer",
    "../transfer",
    "transfer/",
    "transfer:1.0",
    "transfer@1.0",
    "\"transfer\"",
    "<transfer>",
    "",
    " ",
    "\0",
    ".",
    "constructor",
    "__proto__",
    "prototype",
    "toString",
    "hasOwnProperty",
    "__class__",
    "null",
    "undefined",
    "None",
    "0",
    "std::process::exit",
    "os.system",
];

#[tokio::test]
async fn nothing_is_guessed() {
    for mut world in World::of_each_kind() {
        world.budget.max_calls_per_turn = 100;
        world.add(Case::named("args-extra-field").tool().permission(Permission::Allow), echo());
        let arguments = r#"{"to":"eve","amount":2}"#;
        let wire = Wire::asking_for(NEARLY.iter().map(|name| proposed("c", name, arguments)).collect());
        world.model = Some(wire.model());
        let ran = world.run(Vec::new()).await;
        for (index, name) in NEARLY.iter().enumerate() {
            let call = &ran.result.calls[index];
            assert_eq!(ran.codes()[index], "unknown_tool", "{name:?}"); // R-068
            assert_eq!(call.tool_name, *name, "the name is told back as it was called"); // R-093
            assert_eq!(call.tool_version, None, "{name:?}"); // R-086
            assert_eq!(ran.settled(index).audit.reason.as_deref(), Some("not_registered"), "{name:?}");
        }
        assert!(world.entered().is_empty());
        assert_eq!(ran.result.valid_actions, 0);
        wire.last_request();
    }
}

#[tokio::test]
async fn names_that_cannot_be_read_are_not_registered() {
    let long = "a".repeat(257);
    let names = [
        "",
        " ",
        "\t",
        " a",
        "a ",
        "a\n",
        "a\0b",
        "a\u{7f}",
        "a\u{85}b",
        "a\u{a0}b",
        "a\u{ad}b",
        "a\u{200b}b",
        "a\u{200d}b",
        "a\u{202e}b",
        "a\u{2066}b",
        "a\u{2800}b",
        "a\u{feff}b",
        "a\u{e0041}b",
        &long,
    ];
    let world = World::in_memory();
    for name in names {
        let refused = world.registry.register(world.spec(ToolSpec::builder(name), echo())).unwrap_err(); // R-023
        assert!(matches!(refused, RegisterError::Name { .. }), "{name:?}: {refused}");
    }
    assert!(world.registry.is_empty());
    // Registered names that look alike are different tools, and each is only itself.
    for name in ["read", "Read", "rеad", "read.", "r ead", &"a".repeat(256)] {
        world.add(ToolSpec::builder(name).effect(Effect::Read), echo());
    }
    let ran = world.run(vec![proposed("1", "Read", "{}"), proposed("2", "READ", "{}")]).await;
    assert_eq!(ran.codes(), ["ok", "unknown_tool"]);
}

#[tokio::test]
async fn what_is_not_allowed_looks_like_what_is_not_there() {
    let mut world = World::in_memory();
    world.add(ToolSpec::builder("seen").effect(Effect::Read), echo());
    world.add(ToolSpec::builder("hidden").version("7.3").effect(Effect::Read), echo());
    world.allow = Some(vec!["seen".to_owned()]);
    let ran = world.run(vec![proposed("1", "hidden", "{}"), proposed("2", "absent", "{}")]).await;
    assert_eq!(ran.codes(), ["unknown_tool", "unknown_tool"]);
    assert_eq!(ran.told(0), ran.told(1)); // C-5
    assert_eq!(ran.result.calls[0].tool_version, None); // C-10
    let reasons: Vec<_> = (0..2).map(|index| ran.settled(index).audit.reason.clone().unwrap()).collect();
    assert_eq!(reasons, ["not_allowed", "not_registered"]);
    assert_eq!(ran.settled(0).audit.tool_version.as_deref(), Some("7.3"));
    assert!(!ran.told(0).contains("hidden"), "{}", ran.told(0));
}
