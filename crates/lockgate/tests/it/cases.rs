//! Failures that were reported elsewhere, run against Lockgate: `testdata/cases.jsonl`, line by line, from each line's own
//! input, through the façade, as a program that embeds Lockgate is written. Beside each line stand its neighbours: the
//! kind is what has to be right, not the example.

mod allow_list;
mod approval;
mod args_malformed;
mod budget;
mod cancel;
mod file;
mod ids;
mod later;
mod limits;
mod mcp;
mod names;
mod numbers;
mod output;
mod pairing;
mod parallel;
mod schema_dialect;
mod secrets;
mod tampered;
mod timeout;
mod unicode;
mod wire;

use std::fmt::Write as _;
use std::pin::Pin;

use self::Standing::{Holds, Partly, Waits};
use self::file::Case;

/// What a line's own test does with it.
type Check = fn(Case) -> Pin<Box<dyn Future<Output = ()>>>;

/// How a line stands.
enum Standing {
    /// All of it holds.
    Holds(Check),
    /// What can hold without a later capability does.
    Partly(Check, &'static str),
    /// There is nothing to run before that capability.
    Waits(&'static str),
}

macro_rules! check {
    ($($path:ident)::+) => {
        |case| Box::pin($($path)::+(case))
    };
}

const STREAMING: &str = "streaming provider wires";
const WIRES: &str = "the other providers' wires";
const AGENTS: &str = "sub-agents";

/// Every line of the file, in its order.
const TABLE: &[(&str, Standing)] = &[
    ("args-empty-string", Holds(check!(args_malformed::empty_text))),
    ("args-truncated-poisons-history", Partly(check!(args_malformed::cut_off), STREAMING)),
    ("args-invalid-json-recoverable", Holds(check!(args_malformed::one_broken_of_two))),
    ("args-double-encoded-nested", Partly(check!(args_malformed::double_encoded), "argument repair")),
    ("args-duplicate-keys", Holds(check!(args_malformed::duplicate_keys))),
    ("args-bigint-exact", Holds(check!(numbers::digits_survive))),
    ("args-nan-infinity", Holds(check!(numbers::not_finite))),
    ("args-lone-surrogate", Holds(check!(unicode::lone_surrogate))),
    ("args-extra-field", Holds(check!(schema_dialect::extra_field))),
    ("args-deep-nesting", Holds(check!(limits::deep_nesting))),
    ("stream-same-index-one-chunk", Waits(STREAMING)),
    ("stream-parsable-prefix", Partly(check!(later::whole_text_of_a_stream), STREAMING)),
    ("ids-empty-or-duplicate", Holds(check!(ids::empty_or_equal))),
    ("pair-dangling-after-kill", Partly(check!(pairing::dangling), "further user messages in a run")),
    ("pair-finished-shown-as-lost", Holds(check!(pairing::finished_is_not_lost))),
    ("par-one-fails", Holds(check!(parallel::one_fails))),
    ("par-limit-overshoot", Holds(check!(budget::no_overshoot))),
    ("name-unknown-recoverable", Holds(check!(names::unknown_names))),
    ("name-charset-and-length", Holds(check!(names::names_of_a_server))),
    ("name-same-in-two-servers", Holds(check!(names::one_name_twice))),
    ("mcp-list-pagination", Holds(check!(mcp::list_pagination))),
    ("mcp-list-changed", Holds(check!(mcp::list_changed))),
    ("mcp-server-dies-mid-call", Holds(check!(mcp::dies_mid_call))),
    ("schema-defs-kept", Partly(check!(schema_dialect::definitions_kept), WIRES)),
    ("schema-strict-claim", Partly(check!(schema_dialect::no_strict_claim), WIRES)),
    ("out-schema-enforced", Holds(check!(output::schema_enforced))),
    ("out-huge", Holds(check!(output::huge))),
    ("appr-args-bound", Holds(check!(approval::arguments_bound))),
    ("appr-replay", Holds(check!(approval::replay))),
    ("appr-decline-executes", Holds(check!(approval::decline_does_not_execute))),
    ("appr-shown-is-executed", Holds(check!(approval::shown_is_executed))),
    ("appr-expiry", Holds(check!(approval::expiry))),
    ("appr-parallel-interrupts", Holds(check!(approval::decided_by_call))),
    ("appr-nested-restart", Waits(AGENTS)),
    ("appr-vs-policy", Holds(check!(approval::policy_before_approval))),
    ("scope-subagent-widens", Partly(check!(allow_list::child_is_an_intersection), AGENTS)),
    ("scope-code-mode", Waits("code actions")),
    ("scope-prefix-rule", Holds(check!(allow_list::exact_rule))),
    ("search-deferred-before-load", Waits("tool_search")),
    ("time-process-tree", Waits("the process sandbox")),
    ("cancel-kills-server", Holds(check!(mcp::cancel_one))),
    ("retry-double-effect", Holds(check!(later::no_second_effect))),
    ("err-secret-in-exception", Holds(check!(secrets::in_an_exception))),
    ("dup-identical-writes", Holds(check!(parallel::identical_writes))),
    ("args-128-calls", Holds(check!(limits::two_hundred_calls))),
    ("python-literal-args", Holds(check!(args_malformed::python_literal))),
];

/// Runs a line's test on a thread of its own, with everything that belongs to a thread.
fn passes(check: Check, case: Case) -> bool {
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(case));
    };
    std::thread::spawn(run).join().is_ok()
}

#[test]
fn every_line_of_the_file_stands_as_written_here() {
    let cases = Case::all();
    let ids: Vec<_> = cases.iter().map(Case::id).collect();
    let known: Vec<_> = TABLE.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, known, "each line of the file has its place in the table");

    let (mut table, mut counts) = (String::new(), [0; 4]);
    for (case, (id, standing)) in cases.into_iter().zip(TABLE) {
        let kind = case.kind();
        let (count, words) = match standing {
            Holds(check) if passes(*check, case.clone()) => (0, "passed".to_owned()),
            Partly(check, what) if passes(*check, case.clone()) => (1, format!("passed in part, waiting for {what}")),
            Waits(what) => (2, format!("waiting for {what}")),
            Holds(_) | Partly(..) => (3, "FAILED".to_owned()),
        };
        counts[count] += 1;
        let _ = writeln!(table, "{id:<32} {kind:<16} {words}");
    }
    let [passed, in_part, waiting, failed] = counts;
    // Seen with `--no-capture`, and whenever something is wrong.
    let _ = std::io::Write::write_all(&mut std::io::stdout(), table.as_bytes());
    assert_eq!((passed, in_part, waiting, failed), (34, 7, 5, 0), "\n{table}");
}
