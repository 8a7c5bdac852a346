// The executor's own modules, so that a case stands inside the crate: only the walls between modules are left.

#[path = "../../../src/authorized.rs"]
mod authorized;
#[path = "../../../src/caller.rs"]
mod caller;
#[path = "../../../src/checked.rs"]
mod checked;
#[path = "../../../src/considered.rs"]
mod considered;
#[path = "../../../src/decided.rs"]
mod decided;
#[path = "../../../src/error.rs"]
mod error;
#[path = "../../../src/exit.rs"]
mod exit;
#[path = "../../../src/gate.rs"]
mod gate;
#[path = "../../../src/hooks.rs"]
mod hooks;
#[path = "../../../src/keys.rs"]
mod keys;
#[path = "../../../src/limit.rs"]
mod limit;
#[path = "../../../src/pipeline.rs"]
mod pipeline;
#[path = "../../../src/proposed.rs"]
mod proposed;
#[path = "../../../src/ran.rs"]
mod ran;
#[path = "../../../src/reconciled.rs"]
mod reconciled;
#[path = "../../../src/recorded.rs"]
mod recorded;
#[path = "../../../src/released.rs"]
mod released;
#[path = "../../../src/resolved.rs"]
mod resolved;
#[path = "../../../src/run_log.rs"]
mod run_log;
#[path = "../../../src/scope.rs"]
mod scope;
#[path = "../../../src/trail.rs"]
mod trail;
#[path = "../../../src/validated.rs"]
mod validated;
#[path = "../../../src/vouched.rs"]
mod vouched;

#[allow(unused_imports)]
use {
    authorized::Authorized, checked::Checked, checked::CheckedOutput, exit::Exit, gate::Gate, proposed::Proposed,
    proposed::propose, ran::Ran, reconciled::Found, recorded::Recorded, released::Released, released::Settlement,
    released::release, resolved::Resolved, run_log::RunLog, scope::Request, scope::Scope, trail::Trail,
    validated::Validated,
};
