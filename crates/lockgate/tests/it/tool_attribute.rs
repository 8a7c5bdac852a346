//! `#[tool]`: what it makes of a function, and what it says to one that it cannot use.
//!
//! Whether a tool written this way runs is tested through the gate; here its definition is looked at, and the decoding of
//! its arguments, which a gate does before it enters the handler.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use lockgate::contract::arguments::Arguments;
use lockgate::contract::document::Limits;
use lockgate::contract::effect::{Deferral, Effect, ErrorText, Idempotency, OnDuplicate, Permission, ReplayPolicy};
use lockgate::contract::ids::CallId;
use lockgate::contract::subject::Subject;
use lockgate::contract::time::Timestamp;
use lockgate::contract::tool::{IdempotencyKey, InvalidSpec, Output, Reconciled};
use lockgate::{Failure, ToolContext, ToolEnvironmentError, ToolExecutionError, ToolSpec, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

#[derive(Serialize, JsonSchema)]
struct Owner {
    team: String,
    on_call: Option<String>,
}

/// Says who owns
/// a service.
///
/// It knows production only.
#[tool(effect = read)]
async fn lookup_service_owner(
    /// The service's name, such as `billing`.
    service_name: String,
) -> Result<Owner, ToolExecutionError> {
    if service_name == "billing" {
        return Ok(Owner { team: "payments".to_owned(), on_call: None });
    }
    Err(ToolExecutionError::new("service_not_found", format!("there is no service `{service_name}`")))
}

fn built(builder: lockgate::ToolSpecBuilder) -> ToolSpec {
    builder.build().unwrap()
}

fn input_schema(spec: &ToolSpec) -> Value {
    spec.input_schema().to_json_value()
}

fn arguments(text: &str) -> Arguments {
    Arguments::parse(text, Limits::ARGUMENTS).unwrap()
}

/// Whether the handler's decoding takes these arguments.
fn decodes(spec: &ToolSpec, text: &str) -> bool {
    spec.handler().unwrap().prepare(&arguments(text)).is_ok()
}

#[test]
fn a_function_and_its_types_become_a_definition() {
    let spec = built(lookup_service_owner());
    assert_eq!(spec.name(), "lookup_service_owner");
    assert_eq!(spec.description(), "Says who owns a service.\n\nIt knows production only.");
    assert_eq!(
        input_schema(&spec),
        json!({
            "type": "object",
            "properties": {
                "service_name": {"type": "string", "description": "The service's name, such as `billing`."},
            },
            "required": ["service_name"],
            "additionalProperties": false,
        })
    );
    assert_eq!(
        spec.output_schema().unwrap().to_json_value(),
        json!({
            "type": "object",
            "properties": {"team": {"type": "string"}, "on_call": {"type": ["string", "null"]}},
            "required": ["team", "on_call"],
            "additionalProperties": false,
        })
    );
    assert_eq!(spec.effect(), Effect::Read); // R-232
}

#[test]
fn unknown_and_missing_arguments_do_not_decode() {
    let spec = built(lookup_service_owner());
    assert!(decodes(&spec, r#"{"service_name":"billing"}"#));
    assert!(!decodes(&spec, r#"{"service_name":"billing","more":1}"#)); // R-232
    assert!(!decodes(&spec, "{}"));
    assert!(!decodes(&spec, r#"{"service_name":1}"#));
}

/// Does nothing, on the blocking pool.
#[tool(blocking)]
async fn plain() -> u32 {
    7
}

#[test]
fn what_is_not_said_is_the_contract_s_default() {
    let spec = built(plain());
    let default = built(ToolSpec::builder("plain"));
    assert_eq!(spec.version(), default.version());
    assert_eq!(spec.effect(), Effect::External);
    assert_eq!(spec.permission(), Permission::Ask);
    assert_eq!(spec.replay(), ReplayPolicy::Never);
    assert_eq!(spec.idempotency(), Idempotency::None);
    assert_eq!(spec.error_text(), ErrorText::Hidden);
    assert_eq!(spec.on_duplicate(), OnDuplicate::RunEach);
    assert_eq!(spec.deferral(), Deferral::Never);
    assert_eq!(spec.timeout(), None);
    assert_eq!(spec.permission_reason(), None);
    assert!(!spec.completes_run());
    assert!(spec.scopes().is_empty());
    assert!(spec.abilities().is_empty());
    assert!(spec.handler().unwrap().may_block());
}

#[test]
fn a_tool_without_arguments_takes_the_empty_object_only() {
    let spec = built(plain());
    assert_eq!(input_schema(&spec), json!({"type": "object", "additionalProperties": false}));
    assert!(decodes(&spec, "{}"));
    assert!(!decodes(&spec, r#"{"more":1}"#));
}

/// Sends money.
#[tool(
    name = "payments.send",
    version = "2.1",
    effect = "external",
    replay = safe,
    permission = ask,
    reason = "it cannot be taken back",
    scopes("payments.write", "payments.read"),
    resource_keys = ["ledger"],
    completes_run,
    timeout = "2s",
    on_duplicate = reject,
    error_text = vouched,
    deferral = eligible,
    pre_check = not_to_oneself,
    harmless_when = is_small,
    reconcile = was_it_sent,
    output_schema = false,
)]
async fn send_money(
    mut to: String,
    amount: u64,
    context: ToolContext,
    /// For the statement.
    #[serde(default)]
    purpose: Option<String>,
) -> Result<String, Failure> {
    context.progress("sending");
    if amount == 0 {
        return Err(ToolExecutionError::new("nothing_to_send", "the amount is zero").into());
    }
    if amount > 1_000_000 {
        return Err(ToolEnvironmentError::new("the bank is closed").into());
    }
    to.push_str(purpose.as_deref().unwrap_or_default());
    Ok(to)
}

fn not_to_oneself(arguments: &Arguments) -> Result<(), String> {
    let to = arguments.root().to_json_value();
    if to["to"] == "me" { Err("nobody sends money to themselves".to_owned()) } else { Ok(()) }
}

fn is_small(arguments: &Arguments) -> bool {
    arguments.root().to_json_value()["amount"].as_u64().is_some_and(|amount| amount < 10)
}

async fn was_it_sent(arguments: Arguments, _context: ToolContext) -> Result<Reconciled, Failure> {
    let arguments: Value = arguments.root().to_json_value();
    Ok(if arguments["to"] == "bob" { Reconciled::Done(Output::of("sent")) } else { Reconciled::NotDone })
}

#[test]
fn everything_that_is_said_reaches_the_definition() {
    let spec = built(send_money());
    assert_eq!(spec.name(), "payments.send");
    assert_eq!(spec.version(), "2.1");
    assert_eq!(spec.effect(), Effect::External);
    assert_eq!(spec.replay(), ReplayPolicy::Safe);
    assert_eq!(spec.idempotency(), Idempotency::Declared);
    assert_eq!(spec.permission(), Permission::Ask);
    assert_eq!(spec.permission_reason(), Some("it cannot be taken back"));
    assert_eq!(spec.scopes().iter().collect::<Vec<_>>(), ["payments.read", "payments.write"]);
    assert_eq!(spec.resource_keys().iter().collect::<Vec<_>>(), ["ledger"]);
    assert!(spec.completes_run());
    assert_eq!(spec.timeout(), Some(Duration::from_secs(2)));
    assert_eq!(spec.on_duplicate(), OnDuplicate::Reject);
    assert_eq!(spec.error_text(), ErrorText::Vouched);
    assert_eq!(spec.deferral(), Deferral::Eligible); // R-157
    assert!(spec.output_schema().is_none());
    assert!(!spec.handler().unwrap().may_block());
}

#[test]
fn the_context_is_no_argument() {
    let spec = built(send_money());
    let schema = input_schema(&spec);
    assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["to", "amount", "purpose"]);
    assert_eq!(schema["required"], json!(["to", "amount"]));
    assert!(decodes(&spec, r#"{"to":"bob","amount":3}"#));
    assert!(!decodes(&spec, r#"{"to":"bob","amount":-3}"#));
    assert!(!decodes(&spec, r#"{"to":"bob","amount":3,"context":{}}"#));
}

#[test]
fn attached_abilities_are_those_functions() {
    let spec = built(send_money());
    assert_eq!(spec.abilities(), ["pre_check", "harmless_when", "reconcile"]);
    let check = spec.pre_check().unwrap();
    assert_eq!(check(&arguments(r#"{"to":"bob"}"#)), Ok(()));
    assert_eq!(check(&arguments(r#"{"to":"me"}"#)), Err("nobody sends money to themselves".to_owned()));
    let harmless = spec.harmless_when().unwrap();
    assert!(harmless(&arguments(r#"{"amount":9}"#)));
    assert!(!harmless(&arguments(r#"{"amount":10}"#)));
    let ask = spec.reconcile().unwrap();
    let found = |text: &str| ask(arguments(text), context()).now_or_never().unwrap().unwrap();
    assert!(matches!(found(r#"{"to":"bob"}"#), Reconciled::Done(_)));
    assert!(matches!(found(r#"{"to":"eve"}"#), Reconciled::NotDone));
}

fn context() -> ToolContext {
    let key = IdempotencyKey::new(Arc::new(Subject::default()), CallId::new("call"));
    ToolContext::new(CancellationToken::new(), Timestamp::from_millis(0), key)
}

#[test]
fn an_attached_ability_changes_the_definition_digest() {
    let without = built(lookup_service_owner());
    assert_eq!(without.definition(), built(lookup_service_owner()).definition());
    let with = built(lookup_service_owner().pre_check(|_arguments| Ok(())));
    assert_ne!(with.definition(), without.definition());
}

/// Moves a thing.
#[tool(effect = write, replay = safe, idempotency = provider)]
async fn move_thing(#[arguments] movement: Movement, context: ToolContext) -> Result<(), std::io::Error> {
    context.progress(&movement.thing);
    if movement.to.x > 10 { Err(std::io::Error::other("too far")) } else { Ok(()) }
}

#[derive(Deserialize, JsonSchema)]
struct Movement {
    /// What is moved.
    thing: String,
    to: Place,
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    x: i32,
}

#[test]
fn one_struct_can_be_all_the_arguments() {
    let spec = built(move_thing());
    let schema = input_schema(&spec);
    assert_eq!(schema["properties"]["thing"]["description"], "What is moved.");
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["$defs"]["Place"]["additionalProperties"], false);
    assert!(decodes(&spec, r#"{"thing":"box","to":{"x":1}}"#));
    assert!(!decodes(&spec, r#"{"thing":"box"}"#));
    assert_eq!(spec.idempotency(), Idempotency::Provider);
    assert_eq!(spec.replay(), ReplayPolicy::Safe);
    assert_eq!(spec.output_schema().unwrap().to_json_value(), json!({"type": "null"}));
}

/// Reads a thing.
#[tool(effect = read)]
async fn with_field_attributes(
    #[serde(rename = "type")] r#kind: String,
    r#in: String,
    #[schemars(range(min = 1, max = 5))] count: u8,
    #[serde(default = "one_page")] pages: u32,
    #[serde(flatten)] place: Place,
) -> std::io::Result<Vec<String>> {
    Ok(vec![kind, r#in, count.to_string(), pages.to_string(), place.x.to_string()])
}

fn one_page() -> u32 {
    1
}

#[test]
fn attributes_of_parameters_act_as_on_fields() {
    let spec = built(with_field_attributes());
    let schema = input_schema(&spec);
    assert_eq!(
        schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["type", "in", "count", "pages", "x"]
    );
    assert_eq!(schema["properties"]["count"], json!({"type": "integer", "minimum": 1, "maximum": 5}));
    assert_eq!(schema["properties"]["pages"]["default"], 1);
    assert_eq!(schema["required"], json!(["type", "in", "count", "x"]));
    assert_eq!(schema["additionalProperties"], false);
    assert!(decodes(&spec, r#"{"type":"a","in":"b","count":1,"x":2}"#));
    let items = &spec.output_schema().unwrap().to_json_value()["items"];
    assert_eq!(*items, json!({"type": "string"}));
}

mod elsewhere {
    use lockgate::tool;

    /// Is visible from outside its module.
    #[tool(effect = read, crate = crate::tool_attribute::reexported)]
    #[expect(clippy::let_and_return, reason = "shows that levels of lints act on the function inside")]
    pub(super) async fn visible(#[expect(unused_variables, reason = "as above")] text: String) -> &'static str {
        let fixed = "fixed";
        fixed
    }
}

mod reexported {
    pub(super) use lockgate::{ToolSpec, ToolSpecBuilder, private};
}

#[test]
fn visibility_and_the_facade_s_path_are_the_author_s() {
    assert_eq!(built(elsewhere::visible()).name(), "visible");
}

/// Claims too much.
#[tool(effect = write)]
async fn claims_too_much() -> bool {
    true
}

#[test]
fn a_builder_can_say_more_and_is_checked_when_built() {
    let refused = claims_too_much().replay(ReplayPolicy::Safe).build().unwrap_err();
    assert!(matches!(refused, InvalidSpec::UnsafeReplay { effect: Effect::Write, .. }), "{refused}");
}

#[test]
fn what_cannot_be_a_tool_is_explained() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs"); // R-011, R-024, R-052, R-063
}
