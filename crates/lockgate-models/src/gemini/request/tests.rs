use super::*;
use crate::Provider;
use crate::testing::{options, request};
use crate::wire::{Sent, Wire as _};

#[test]
fn a_whole_body_looks_like_this() {
    let request = request();
    let sent = Sent::of(&request);
    let options = options(
        Provider::Gemini,
        Some(
            r#"{"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}, "generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}"#,
        ),
        Some(0.5),
    );
    let body = body(&options, &request, &sent.names).unwrap();
    let expected = [
        r#"{"contents":[{"role":"user","parts":[{"text":"Who owns INC-001?"}]},"#,
        r#"{"role":"model","parts":[{"text":"Looking."},"#,
        r#"{"functionCall":{"id":"p1","name":"LOOKUP","args":{"id": 9007199254740993}},"#,
        r#""thoughtSignature":"Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv"},"#,
        r#"{"functionCall":{"id":"call00000","name":"INVENTED","args":{}}},"#,
        r#"{"functionCall":{"id":"p3","name":"python","args":{"code":"print(1)"}}}]},"#,
        r#"{"role":"user","parts":[{"functionResponse":{"id":"p1","name":"LOOKUP","#,
        r#""response":{"content":[{"type":"image","mimeType":"image/png"}],"cost":1.10}}},"#,
        r#"{"functionResponse":{"id":"call00000","name":"INVENTED","response":{"error":{"code": "unknown_tool"}}}},"#,
        r#"{"functionResponse":{"id":"p3","name":"python","response":{"output":[1, 2]}}},"#,
        r#"{"inlineData":{"mimeType":"image/png","data":"aGk="}}]},"#,
        r#"{"role":"user","parts":[{"text":"And?"}]}],"#,
        r#""systemInstruction":{"parts":[{"text":"Be brief."}]},"#,
        r#""tools":[{"functionDeclarations":[{"name":"LOOKUP","description":"Look an incident up.","#,
        r#""parametersJsonSchema":{"type": "object", "properties": {"id": {"type": "integer"}}}},"#,
        r#"{"name":"now","description":"","parametersJsonSchema":{}}]}],"#,
        r#""generationConfig":{"temperature":0.5,"maxOutputTokens":100,"thinkingConfig":{"thinkingBudget": 0}},"#,
        r#""toolConfig":{"functionCallingConfig": {"mode": "AUTO"}}}"#,
    ]
    .concat();
    let expected = expected
        .replace("LOOKUP", sent.names.wire("incident.lookup").unwrap())
        .replace("INVENTED", sent.names.wire("no such tool").unwrap());
    assert_eq!(body, expected);
}

#[test]
fn the_model_stands_in_the_path() {
    let path = |model: &str, stream| {
        let mut options = options(Provider::Gemini, None, None);
        options.model = model.to_owned();
        let wire = super::super::Gemini.request(&options, &request(), stream).unwrap();
        (wire.path.join("/"), wire.query)
    };
    assert_eq!(path("gemini-x", false), ("models/gemini-x:generateContent".to_owned(), None));
    let tuned = ("tunedModels/mine:streamGenerateContent".to_owned(), Some("alt=sse"));
    assert_eq!(path("tunedModels/mine", true), tuned);
}
