use lockgate_contract::effect::Permission;
use serde_json::{Value, json};

use super::Supposed;
use crate::cedar::adapter::conditions_of_any_approval;

fn attribute(name: &str) -> Value {
    json!({ ".": { "left": { "Var": "context" }, "attr": name } })
}

fn put(mut expression: Value, approved: bool) -> Value {
    Supposed { permission: Permission::Ask, approved }.put_into(&mut expression, &conditions_of_any_approval());
    expression
}

#[test]
fn what_is_known_is_put_in_and_nothing_else() {
    let has = json!({ "has": { "left": { "Var": "context" }, "attr": "approval" } });
    assert_eq!(put(has.clone(), false), json!({ "Value": false }));
    assert_eq!(put(has, true), json!({ "Value": true }));
    assert_eq!(put(attribute("permission"), true), json!({ "Value": "ask" }));
    assert_eq!(put(attribute("shadow"), true), json!({ "Value": false }));
    for unknown in ["input", "now", "step", "arguments_digest", "approval"] {
        assert_eq!(put(attribute(unknown), true), attribute(unknown), "{unknown}");
    }
    for condition in conditions_of_any_approval() {
        assert_eq!(put(condition.clone(), true), json!({ "Value": true }));
        assert_eq!(put(condition, false), json!({ "Value": false }));
    }
}

#[test]
fn literals_and_the_names_of_a_record_are_not_looked_into() {
    let literal = json!({ "Value": { "permission": "deny" } });
    assert_eq!(put(literal.clone(), true), literal);
    let record = json!({ "Record": { "Var": attribute("permission"), "Value": attribute("step") } });
    assert_eq!(put(record, true), json!({ "Record": { "Var": { "Value": "ask" }, "Value": attribute("step") } }));
}
