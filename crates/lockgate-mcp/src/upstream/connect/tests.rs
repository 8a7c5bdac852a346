use super::*;

const ALL: Relay = Relay { elicitation: true, sampling: true, roots: true };

fn told(relay: Relay, caller: &serde_json::Value) -> serde_json::Value {
    capabilities(relay, Some(&Document::from_json_value(caller))).to_json_value()
}

// The conformance suite's `tasks-required-task-error`: a server that was told of more than the client can do answered what it cannot take.
#[test]
fn a_server_is_told_what_whoever_sent_the_request_can_do_and_no_more() {
    assert_eq!(told(ALL, &json!({})), json!({}));
    let tasks = json!({ "extensions": { key::TASKS: {} } });
    assert_eq!(told(ALL, &tasks), tasks);
    let said =
        json!({ "elicitation": { "url": {} }, "sampling": { "tools": {} }, "roots": {}, "extensions": { "x/y": {} } });
    let told_of = json!({ "elicitation": { "url": {} }, "sampling": { "tools": {} }, "roots": {} });
    assert_eq!(told(ALL, &said), told_of, "extensions that nobody relays are not passed on");
    let none = Relay { elicitation: false, sampling: false, roots: false };
    assert_eq!(told(none, &said), json!({}), "and nothing that the operator does not let through");
}

#[test]
fn a_handshake_says_what_anybody_may_be_able_to() {
    let all = capabilities(ALL, None).to_json_value();
    assert_eq!(all["elicitation"], json!({ "form": {}, "url": {} }));
    assert_eq!(all["extensions"], json!({ key::TASKS: {} }));
}
