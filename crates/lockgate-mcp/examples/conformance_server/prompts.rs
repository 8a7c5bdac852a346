//! The prompts.

use lockgate_contract::document::Document;
use lockgate_mcp::server::Peer;
use lockgate_mcp::wire::RpcError;
use serde_json::{Value, json};

use crate::content::{form, image, resource, text};

pub(crate) fn list() -> Value {
    json!([
        {"name": "test_simple_prompt", "description": "A prompt."},
        {"name": "test_prompt_with_arguments", "description": "A prompt with arguments.", "arguments": [
            {"name": "arg1", "description": "The first.", "required": true},
            {"name": "arg2", "description": "The second.", "required": true},
        ]},
        {"name": "test_prompt_with_embedded_resource", "description": "A prompt with a resource.", "arguments": [
            {"name": "resourceUri", "description": "Which one.", "required": true},
        ]},
        {"name": "test_prompt_with_image", "description": "A prompt with a picture."},
        {"name": "test_input_required_result_prompt", "description": "A prompt that asks first."},
    ])
}

pub(crate) async fn get(params: &Value, peer: &dyn Peer) -> Result<Value, RpcError> {
    let argument = |name: &str| params["arguments"][name].as_str().unwrap_or_default().to_owned();
    let contents = match params["name"].as_str().unwrap_or_default() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            vec![text(format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2")))]
        }
        "test_prompt_with_embedded_resource" => vec![
            resource(&argument("resourceUri"), "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
        "test_input_required_result_prompt" => {
            let question = form("What context should the prompt use?", "context", "string");
            let answers = peer.ask(Document::from_json_value(&json!({"user_context": question}))).await;
            let answers = answers.map_err(|error| RpcError::invalid_params(error.to_string()))?.to_json_value();
            vec![text(format!("Use this: {}", answers["user_context"]["content"]["context"]))]
        }
        _ => return Err(RpcError::invalid_params("there is no such prompt")),
    };
    let messages: Vec<Value> =
        contents.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    Ok(json!({"messages": messages}))
}
