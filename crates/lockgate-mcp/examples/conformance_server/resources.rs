//! The resources.

use lockgate_contract::document::Document;
use lockgate_mcp::wire::{Era, RpcError, Version, code};
use serde_json::{Value, json};

use crate::content::PNG;

pub(crate) fn list() -> Value {
    json!([
        {"uri": "test://static-text", "name": "static-text", "description": "A text.", "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "static-binary", "description": "A picture.", "mimeType": "image/png"},
        {"uri": "test://watched-resource", "name": "watched-resource", "description": "One to listen to.", "mimeType": "text/plain"},
    ])
}

pub(crate) fn templates() -> Value {
    json!([{
        "uriTemplate": "test://template/{id}/data", "name": "template", "description": "Some data of an id.",
        "mimeType": "application/json",
    }])
}

pub(crate) fn read(params: &Value, version: Version) -> Result<Value, RpcError> {
    let uri = params["uri"].as_str().ok_or_else(|| RpcError::invalid_params("`uri` is missing"))?;
    let content = match uri {
        "test://static-text" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        "test://watched-resource" => json!({"uri": uri, "mimeType": "text/plain", "text": "Nothing changed."}),
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        _ => {
            let Some(id) = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data")) else {
                let code = match version.era() {
                    Era::Modern => code::INVALID_PARAMS,
                    Era::Legacy => code::RESOURCE_NOT_FOUND,
                };
                let data = Document::from_json_value(&json!({"uri": uri}));
                return Err(RpcError::new(code, "there is no such resource").with_data(data));
            };
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
    };
    Ok(json!({"contents": [content]}))
}
