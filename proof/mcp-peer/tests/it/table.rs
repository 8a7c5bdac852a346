//! Which tests show what of `testdata/mcp-reports.jsonl`.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

/// Each report, and the tests that show that it is none of ours: the file, and the function in it.
const SHOWN: [(&str, &[(&str, &str)]); 23] = [
    (
        "long-names",
        &[
            ("crates/lockgate-mcp/src/upstream/name/tests.rs", "a_name_that_does_not_fit_ends_in_digits_of_a_digest"),
            ("proof/mcp-peer/tests/it/reports.rs", "odd_names_are_called_by_others"),
        ],
    ),
    (
        "lost-session",
        &[("proof/mcp-peer/tests/it/reports.rs", "a_server_that_was_started_again_is_called_again_and_nothing_twice")],
    ),
    ("progress", &[("proof/mcp-peer/tests/it/reports.rs", "progress_keeps_a_call_alive_up_to_an_absolute_limit")]),
    ("list-changed", &[("proof/mcp-peer/tests/it/reports.rs", "a_changed_list_is_read_anew_and_told")]),
    (
        "replay",
        &[
            ("proof/mcp-peer/tests/it/reports.rs", "a_server_that_was_started_again_is_called_again_and_nothing_twice"),
            ("proof/mcp-peer/tests/it/killed.rs", "no_call_is_paid_twice_however_often_the_gateway_is_killed"),
        ],
    ),
    ("idempotency-key", &[("proof/mcp-peer/tests/it/reports.rs", "each_call_has_a_key_that_goes_to_the_server")]),
    ("interrupt", &[("proof/mcp-peer/tests/it/reports.rs", "an_interrupt_reaches_the_server_in_both_eras")]),
    ("orphans", &[("proof/mcp-peer/tests/it/reports.rs", "no_server_outlives_the_gateway")]),
    ("bad-schema", &[("proof/mcp-peer/tests/it/beside_hostile.rs", "one_bad_tool_is_left_out_alone")]),
    (
        "odd-schema",
        &[
            ("proof/mcp-peer/tests/it/beside_hostile.rs", "one_bad_tool_is_left_out_alone"),
            ("crates/lockgate-mcp/src/client/tests/hostile.rs", "one_entry_that_cannot_be_read_costs_no_other"),
        ],
    ),
    (
        "lossless",
        &[
            ("crates/lockgate-server/src/gateway/tests.rs", "a_list_is_the_server_s_own_but_for_the_names"),
            ("crates/lockgate-server/src/gateway/tests.rs", "a_result_is_the_server_s_own"),
        ],
    ),
    (
        "huge-results",
        &[
            ("crates/lockgate-executor/tests/it/content.rs", "content_that_is_too_large_stays_content"),
            ("proof/mcp-peer/tests/it/beside_hostile.rs", "a_huge_result_is_cut_and_kept"),
        ],
    ),
    ("dead-upstream", &[("proof/mcp-peer/tests/it/reports.rs", "dead_servers_keep_nobody_waiting")]),
    ("other-user", &[("proof/mcp-peer/tests/it/reports.rs", "nobody_calls_under_anothers_token")]),
    ("approvals", &[("proof/mcp-peer/tests/it/attacks.rs", "nobody_uses_what_is_another_s")]),
    ("probe", &[("proof/mcp-peer/tests/it/beside_hostile.rs", "a_good_server_is_there_whatever_stands_beside_it")]),
    ("noise", &[("proof/mcp-peer/tests/it/beside_hostile.rs", "a_good_server_is_there_whatever_stands_beside_it")]),
    ("secrets-in-logs", &[("proof/mcp-peer/tests/it/reports.rs", "a_server_s_secret_is_nowhere")]),
    ("replicas", &[("proof/mcp-peer/tests/it/reports.rs", "calls_and_questions_are_bound_to_no_replica")]),
    ("session-leak", &[("proof/mcp-peer/tests/it/attacks.rs", "idle_clients_take_no_room_from_others")]),
    ("listen-for-nothing", &[("proof/mcp-peer/tests/it/reports.rs", "who_listens_to_nothing_is_not_held")]),
    (
        "initialize-modern",
        &[("proof/mcp-peer/tests/it/reports.rs", "a_handshake_agrees_on_every_version_that_has_one_and_no_other")],
    ),
    (
        "mid-versions",
        &[("proof/mcp-peer/tests/it/reports.rs", "a_handshake_agrees_on_every_version_that_has_one_and_no_other")],
    ),
];

/// Reports about what is not built yet, and the requirement that waits for it.
const WAITING: [(&str, &str); 2] = [("many-tools", "R-185"), ("silent-search", "R-185")];

#[test]
fn every_report_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let reports = std::fs::read_to_string(root.join("testdata/mcp-reports.jsonl")).unwrap();
    let reports: Vec<Value> = reports.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: BTreeSet<_> = reports.iter().map(|report| report["id"].as_str().unwrap()).collect();
    assert_eq!(ids, SHOWN.iter().map(|(id, _)| *id).chain(WAITING.map(|(id, _)| id)).collect());
    let requirements = std::fs::read_to_string(root.join("proof/requirements.toml")).unwrap();
    let waits = requirements.split("[waits]").nth(1).unwrap();
    for (id, requirement) in WAITING {
        assert!(waits.contains(&format!("{requirement} = ")), "`{id}` waits for nothing any more, and has no test");
    }
    for (id, tests) in SHOWN {
        assert!(!tests.is_empty(), "`{id}` has no test");
        for (file, name) in tests {
            let source = std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            let before = source.split(&format!("fn {name}(")).next().filter(|before| before.len() < source.len());
            let attributes = before.and_then(|before| before.rsplit("\n\n").next());
            assert!(attributes.is_some_and(|said| said.contains("test")), "{file} has no test `{name}`");
        }
    }
}
