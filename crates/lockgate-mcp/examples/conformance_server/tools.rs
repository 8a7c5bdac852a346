//! The tools.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::document::Document;
use lockgate_contract::ports::{Report, Unanswered};
use lockgate_mcp::client::List;
use lockgate_mcp::server::Peer;
use lockgate_mcp::wire::{Era, RpcError, code, key};
use serde_json::{Map, Value, json};

use crate::Suite;
use crate::content::{audio, elicitation, failure, form, image, resource, result, roots, sampling, text, text_result};
use crate::tasks::Job;

/// Between two messages of a tool.
const PAUSE: Duration = Duration::from_millis(50);

/// All tools, as they are listed. The first takes no arguments: the suite calls it to look at headers.
pub(crate) fn list() -> Value {
    let none = json!({"type": "object"});
    let one = |name: &str, kind: &str| json!({"type": "object", "properties": {name: {"type": kind}}});
    let tools = [
        ("test_simple_text", none.clone()),
        ("test_image_content", none.clone()),
        ("test_audio_content", none.clone()),
        ("test_embedded_resource", none.clone()),
        ("test_multiple_content_types", none.clone()),
        ("test_tool_with_logging", none.clone()),
        ("test_logging_tool", none.clone()),
        ("test_error_handling", none.clone()),
        ("test_tool_with_progress", none.clone()),
        ("test_sampling", one("prompt", "string")),
        ("test_elicitation", one("message", "string")),
        ("test_elicitation_sep1034_defaults", none.clone()),
        ("test_elicitation_sep1330_enums", none.clone()),
        ("test_streaming_elicitation", none.clone()),
        ("test_missing_capability", none.clone()),
        ("test_trigger_tool_change", none.clone()),
        ("test_trigger_prompt_change", none.clone()),
        ("test_input_required_result_elicitation", none.clone()),
        ("test_input_required_result_sampling", none.clone()),
        ("test_input_required_result_list_roots", none.clone()),
        ("test_input_required_result_request_state", none.clone()),
        ("test_input_required_result_multiple_inputs", none.clone()),
        ("test_input_required_result_multi_round", none.clone()),
        ("test_input_required_result_tampered_state", none.clone()),
        ("test_input_required_result_capabilities", none.clone()),
        ("test_reconnection", none.clone()),
        (
            "test_custom_header",
            json!({
                "type": "object",
                "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
            }),
        ),
        ("json_schema_2020_12_tool", dialect()),
        ("greet", one("name", "string")),
        (
            "slow_compute",
            json!({
                "type": "object",
                "properties": {"seconds": {"type": "number"}, "label": {"type": "string"}},
            }),
        ),
        ("failing_job", none.clone()),
        ("protocol_error_job", none.clone()),
        ("confirm_delete", one("filename", "string")),
        ("multi_input", none.clone()),
        ("test_tool_with_task", none),
    ];
    let listed = tools.map(|(name, schema)| {
        json!({"name": name, "description": format!("What the suite looks for as `{name}`."), "inputSchema": schema})
    });
    Value::from(listed.to_vec())
}

/// The input schema of a tool.
pub(crate) fn schema(tools: &Value, name: &str) -> Option<Value> {
    let tool = tools.as_array()?.iter().find(|tool| tool["name"] == name)?;
    Some(tool["inputSchema"].clone())
}

/// Runs a tool.
pub(crate) async fn call(suite: &Suite, params: &Value, peer: Arc<dyn Peer>) -> Result<Value, RpcError> {
    let arguments = &params["arguments"];
    let argument = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    Ok(match params["name"].as_str().unwrap_or_default() {
        "test_simple_text" => text_result("This is a simple text response for testing."),
        "test_image_content" => result(&[image()]),
        "test_audio_content" => result(&[audio()]),
        "test_embedded_resource" => {
            result(&[resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")])
        }
        "test_multiple_content_types" => result(&[
            text("Multiple content types test:"),
            image(),
            resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ]),
        "test_tool_with_logging" | "test_logging_tool" => {
            for said in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                peer.report(Report::Log(Document::from_json_value(&json!({"level": "info", "data": said}))));
                tokio::time::sleep(PAUSE).await;
            }
            text_result("The log says what was done.")
        }
        "test_error_handling" => failure("This tool intentionally returns an error for testing"),
        "test_tool_with_progress" => {
            for done in [0, 50, 100] {
                let (progress, total) = (Document::integer(done), Some(Document::integer(100)));
                peer.report(Report::Progress { progress, total, message: None });
                tokio::time::sleep(PAUSE).await;
            }
            text_result("All of it is done.")
        }
        "test_sampling" => {
            let answer = ask(peer.as_ref(), sampling(&argument("prompt"), 100)).await?;
            text_result(format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default()))
        }
        "test_elicitation" => {
            let schema = json!({
                "type": "object",
                "properties": {
                    "username": {"type": "string", "description": "User's response"},
                    "email": {"type": "string", "description": "User's email address"},
                },
                "required": ["username", "email"],
            });
            elicited(peer.as_ref(), &argument("message"), &schema).await?
        }
        "test_elicitation_sep1034_defaults" => elicited(peer.as_ref(), "Who are you?", &defaults()).await?,
        "test_elicitation_sep1330_enums" => elicited(peer.as_ref(), "Choose.", &choices()).await?,
        "test_streaming_elicitation" => {
            let answer = ask(peer.as_ref(), form("Who are you?", "name", "string")).await?;
            text_result(format!("Answered: {answer}"))
        }
        "test_missing_capability" => {
            if peer.capabilities().root().get("sampling").is_none() {
                return Err(missing(&json!({"sampling": {}})));
            }
            text_result("The client's model can be asked.")
        }
        "test_trigger_tool_change" => {
            suite.changed(List::Tools);
            text_result("Whoever listens was told.")
        }
        "test_trigger_prompt_change" => {
            suite.changed(List::Prompts);
            text_result("Whoever listens was told.")
        }
        "test_input_required_result_elicitation" => {
            let name =
                answers(peer.as_ref(), &json!({"user_name": form("What is your name?", "name", "string")})).await?;
            text_result(format!("Hello, {}!", name["user_name"]["content"]["name"].as_str().unwrap_or_default()))
        }
        "test_input_required_result_sampling" => {
            let question = json!({"capital_question": sampling("What is the capital of France?", 100)});
            let answer = answers(peer.as_ref(), &question).await?;
            text_result(answer["capital_question"]["content"]["text"].as_str().unwrap_or_default())
        }
        "test_input_required_result_list_roots" => {
            let answer = answers(peer.as_ref(), &json!({"client_roots": roots()})).await?;
            text_result(format!("Roots: {}", answer["client_roots"]["roots"]))
        }
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            answers(peer.as_ref(), &json!({"confirm": form("Please confirm", "ok", "boolean")})).await?;
            text_result("state-ok")
        }
        "test_input_required_result_multiple_inputs" => {
            let questions = json!({
                "user_name": form("What is your name?", "name", "string"),
                "greeting": sampling("Generate a greeting", 50),
                "client_roots": roots(),
            });
            text_result(format!("Answered: {}", answers(peer.as_ref(), &questions).await?))
        }
        "test_input_required_result_multi_round" => {
            let first = json!({"step1": form("Step 1: What is your name?", "name", "string")});
            let first = answers(peer.as_ref(), &first).await?;
            let second = json!({"step2": form("Step 2: What is your favorite color?", "color", "string")});
            let second = answers(peer.as_ref(), &second).await?;
            text_result(format!("{} likes {}", first["step1"]["content"]["name"], second["step2"]["content"]["color"]))
        }
        "test_input_required_result_capabilities" => {
            let can = peer.capabilities().root();
            let mut questions = Map::new();
            if can.get("elicitation").is_some() {
                questions.insert("user_name".to_owned(), form("What is your name?", "name", "string"));
            }
            if can.get("sampling").is_some() {
                questions.insert("greeting".to_owned(), sampling("Generate a greeting", 50));
            }
            if questions.is_empty() {
                return Err(missing(&json!({"elicitation": {}})));
            }
            text_result(format!("Answered: {}", answers(peer.as_ref(), &Value::from(questions)).await?))
        }
        "test_reconnection" => {
            tokio::time::sleep(PAUSE).await;
            text_result("Still here.")
        }
        "test_custom_header" => text_result(format!("region: {}", arguments["region"])),
        "json_schema_2020_12_tool" => text_result(format!("arguments: {arguments}")),
        "greet" => text_result(format!("Hello, {}!", argument("name"))),
        "slow_compute" => {
            let seconds = Duration::try_from_secs_f64(arguments["seconds"].as_f64().unwrap_or_default());
            let job = Job::Compute { time: seconds.unwrap_or_default(), label: argument("label") };
            if follows_tasks(peer.as_ref()) { suite.tasks.begin(job) } else { job.at_once().await }
        }
        "failing_job" => suite.tasks.begin(required(peer.as_ref(), Job::Failing)?),
        "protocol_error_job" => suite.tasks.begin(required(peer.as_ref(), Job::Broken)?),
        "confirm_delete" => {
            let filename = argument("filename");
            suite.tasks.begin(required(peer.as_ref(), Job::Confirm { filename })?)
        }
        "multi_input" => suite.tasks.begin(required(peer.as_ref(), Job::TwoQuestions)?),
        "test_tool_with_task" => {
            required(peer.as_ref(), ())?;
            let name =
                answers(peer.as_ref(), &json!({"user_name": form("What is your name?", "name", "string")})).await?;
            let name = name["user_name"]["content"]["name"].as_str().unwrap_or_default().to_owned();
            suite.tasks.begin(Job::Compute { time: PAUSE, label: name })
        }
        _ => return Err(RpcError::invalid_params("there is no such tool")),
    })
}

/// Asks one thing.
async fn ask(peer: &dyn Peer, question: Value) -> Result<Value, RpcError> {
    Ok(answers(peer, &json!({"question": question})).await?["question"].take())
}

/// Asks.
async fn answers(peer: &dyn Peer, questions: &Value) -> Result<Value, RpcError> {
    match peer.ask(Document::from_json_value(questions)).await {
        Ok(answers) => Ok(answers.to_json_value()),
        Err(Unanswered::Cannot(lacking)) if peer.version().era() == Era::Modern => {
            let name = lacking.split('.').next().unwrap_or_default();
            Err(missing(&json!({name: {}})))
        }
        Err(error) => Err(RpcError::new(code::INTERNAL_ERROR, error.to_string())),
    }
}

async fn elicited(peer: &dyn Peer, message: &str, schema: &Value) -> Result<Value, RpcError> {
    let answer = ask(peer, elicitation(message, schema)).await?;
    let (action, content) = (answer["action"].as_str().unwrap_or_default(), &answer["content"]);
    Ok(text_result(format!("Elicitation completed: action={action}, content={content}")))
}

fn missing(capabilities: &Value) -> RpcError {
    let data = json!({"requiredCapabilities": capabilities});
    RpcError::new(code::MISSING_CAPABILITY, "the client lacks a capability").with_data(Document::from_json_value(&data))
}

fn follows_tasks(peer: &dyn Peer) -> bool {
    peer.capabilities().root().get("extensions").is_some_and(|extensions| extensions.get(key::TASKS).is_some())
}

/// A job that only clients can have which follow tasks.
fn required<T>(peer: &dyn Peer, job: T) -> Result<T, RpcError> {
    if follows_tasks(peer) { Ok(job) } else { Err(missing(&json!({"extensions": {key::TASKS: {}}}))) }
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        },
        "required": [],
    })
}

fn choices() -> Value {
    let titled = |titles: [&str; 3]| {
        let values = ["value1", "value2", "value3"].into_iter().zip(titles);
        values.map(|(value, title)| json!({"const": value, "title": title})).collect::<Vec<_>>()
    };
    let options = json!(["option1", "option2", "option3"]);
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"])},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled(["First Choice", "Second Choice", "Third Choice"])}},
        },
        "required": [],
    })
}

/// Words of JSON Schema 2020-12.
fn dialect() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}
