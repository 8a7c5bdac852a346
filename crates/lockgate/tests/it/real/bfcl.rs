//! Functions and right calls of the Berkeley Function-Calling Leaderboard. Names repeat over the definitions, so each has a
//! registry of its own.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{document, testdata, tool};
use crate::world::{World, code_of, raw};

/// A call: the test that it comes from, and its arguments as they were written.
pub(super) struct Call {
    pub(super) test: String,
    pub(super) arguments: String,
}

/// One definition and the calls of it.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) input: lockgate::prelude::Document,
    pub(super) calls: Vec<Call>,
}

/// Every definition, in the order of the file.
pub(super) fn functions() -> Vec<Function> {
    let mut calls: BTreeMap<String, Vec<Call>> = BTreeMap::new();
    for line in testdata("bfcl/calls.jsonl").lines() {
        let line = document(line);
        let text = |key| line.root().get(key).unwrap().as_str().unwrap().into_owned();
        let arguments = line.root().get("arguments").unwrap().raw().to_owned();
        calls.entry(text("tool")).or_default().push(Call { test: text("test"), arguments });
    }
    let mut functions = Vec::new();
    for line in testdata("bfcl/tools.jsonl").lines() {
        let line = document(line);
        let text = |key| line.root().get(key).unwrap().as_str().unwrap().into_owned();
        let input = line.root().get("input_schema").unwrap().to_document();
        let calls = calls.remove(&text("id")).unwrap_or_default();
        functions.push(Function { name: text("name"), input, calls });
    }
    assert!(calls.is_empty(), "calls of functions that are not defined");
    functions
}

impl Function {
    /// A world in which only this function is registered; it answers `1`.
    pub(super) fn world(&self, world: World) -> World {
        world.add(tool(&self.name, self.input.root()), raw("1"));
        world
    }
}

/// All 2,260 definitions register. Of the 5,045 calls, those of `expected-refusals.txt` break their own schema (mostly null
/// for what may be absent, and values outside an enumeration): each is refused, and every other one reaches its handler,
/// digit for digit.
#[tokio::test]
async fn every_function_registers_and_every_call_is_judged_by_its_own_schema() {
    let (mut definitions, mut passed, mut refused) = (0, 0, String::new());
    for function in functions() {
        definitions += 1;
        let world = function.world(World::in_memory());
        for call in &function.calls {
            let code = code_of(&world.direct(&function.name, &call.arguments).await);
            if code == "ok" {
                passed += 1;
                assert_eq!(world.entered().pop().as_ref(), Some(&call.arguments));
            } else {
                writeln!(refused, "{}\t{}\t{code}", call.test, function.name).unwrap();
            }
        }
    }
    assert_eq!((definitions, passed), (2260, 4898));
    assert_eq!(refused, testdata("bfcl/expected-refusals.txt"));
}
