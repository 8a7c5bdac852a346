//! Tools that answer with content, and that have more to say, or to ask, before they do: what a gateway's tools are made of.

use std::sync::{Arc, Mutex};

use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::{Effect, OutputForm};
use lockgate_contract::ports::{ArtifactStore as _, BoxFuture, Caller, Report, Unanswered};
use lockgate_contract::tool::{Output, ToolExecutionError, ToolSpec};

use crate::bench::{Bench, CANARY, Counters, Setup, code, settlement, tool, with_handler};

fn json(text: &str) -> Document {
    Document::parse(text, Limits::OUTPUT).unwrap()
}

fn content_tool(counters: &Arc<Counters>, result: &str) -> ToolSpec {
    let result = json(result);
    let spec = tool(counters, Effect::Read).output_form(OutputForm::Content).output_schema_text(
        r##"{"type":"object","properties":{"n":{"$ref":"#/$defs/count"}},"required":["n"],"$defs":{"count":{"type":"integer"}}}"##,
    );
    with_handler(spec, counters, move |_, _| std::future::ready(Ok(Output::new(result.clone()))))
}

async fn giving(max_bytes: usize, result: &str) -> Bench {
    Setup::new(|counters| vec![content_tool(counters, result)]).max_output_bytes(max_bytes).scrubbing().build().await
}

#[tokio::test]
async fn the_output_schema_speaks_of_the_structured_content() {
    for (result, expected) in [
        (r#"{"content":[],"structuredContent":{"n":1},"x":{"kept":0.10}}"#, "ok"),
        (r#"{"content":[],"structuredContent":{"n":"1"}}"#, "invalid_tool_output"),
        (r#"{"content":[],"n":1}"#, "invalid_tool_output"),
    ] {
        let settlement = giving(65_536, result).await.call("read").await;
        assert_eq!(code(&settlement), expected, "{result}");
        if expected == "ok" {
            assert_eq!(settlement.result().data.as_ref().unwrap().text(), result);
        }
    }
}

#[tokio::test]
async fn content_that_is_too_large_stays_content() {
    let image = format!(r#"{{"type":"image","mimeType":"image/png","data":"{}"}}"#, "A".repeat(100_000));
    let text = "long ".repeat(400);
    let result = format!(
        r#"{{"content":[{{"type":"text","text":"{text}"}},{image}],"structuredContent":{{"n":1}},"isError":false}}"#
    );
    let bench = giving(1000, &result).await;
    let settlement = bench.call("read").await;
    let data = settlement.result().data.as_ref().unwrap();
    let blocks: Vec<_> = data.root().get("content").unwrap().elements().collect();
    let shown = blocks[0].get("text").unwrap().as_str().unwrap().into_owned();
    assert!(shown.len() <= 1000 && shown.starts_with("long ") && shown.ends_with("long "), "{shown}");
    assert!(shown.contains("bytes left out; the whole is artifact art-"), "{shown}");
    assert_eq!(blocks[1].raw(), image);
    assert!(data.root().get("structuredContent").is_none());
    let artifact = settlement.result().meta.artifact.clone().unwrap();
    assert_eq!(bench.scope.log.read(&artifact).await.unwrap(), result);
}

#[tokio::test]
async fn an_image_is_no_text() {
    let result = format!(
        r#"{{"content":[{{"type":"image","mimeType":"image/png","data":"{}"}}],"structuredContent":{{"n":1}}}}"#,
        "A".repeat(100_000)
    );
    let settlement = giving(1000, &result).await.call("read").await;
    assert_eq!(settlement.result().data.as_ref().unwrap().text(), result);
    assert_eq!(settlement.result().meta.artifact, None);
}

#[tokio::test]
async fn a_failure_with_details_tells_them_scrubbed_and_limited() {
    let details = Arc::new(Mutex::new(String::new()));
    let given = Arc::clone(&details);
    let bench = Setup::new(|counters| {
        let spec = tool(counters, Effect::Read).output_form(OutputForm::Content);
        vec![with_handler(spec, counters, move |_, _| {
            let details = json(&given.lock().unwrap());
            std::future::ready(Err(ToolExecutionError::new("no_luck", "no luck").details(details).into()))
        })]
    })
    .max_output_bytes(1000)
    .scrubbing()
    .build()
    .await;
    let canary = Document::string(CANARY);
    *details.lock().unwrap() = format!(r#"{{"content":[{{"type":"text","text":{canary}}}],"isError":true}}"#);
    let settled = bench.call("read").await;
    let error = settled.result().error.clone().unwrap();
    assert_eq!((error.code.word(), &*error.message), ("no_luck", "no luck"));
    let shown = error.details.unwrap();
    assert!(shown.text().starts_with(r#"{"content":[{"type":"text","text":"[redacted:CANARY#"#), "{shown}");
    assert!(settled.settled().model_content().text().contains("[redacted:CANARY#"));
    assert_eq!(bench.ending(&settled.result().call_id).await.details.unwrap().text(), shown.text());

    let long = "x".repeat(5000);
    *details.lock().unwrap() = format!(r#"{{"content":[{{"type":"text","text":"{long}"}}],"isError":true}}"#);
    let settled = bench.call("read").await;
    let shown = settled.result().error.clone().unwrap().details.unwrap();
    assert_eq!(shown.root().get("isError").unwrap().as_bool(), Some(true));
    let artifact = settled.result().meta.artifact.clone().unwrap();
    assert_eq!(bench.scope.log.read(&artifact).await.unwrap(), *details.lock().unwrap());
}

/// A caller who writes down what it hears, and answers each question with its own name.
#[derive(Default)]
struct Listening(Mutex<Vec<String>>);

impl Caller for Listening {
    fn beside(&self) -> Option<Document> {
        Some(json(r#"{"traceparent":"00-1"}"#))
    }

    fn report(&self, report: Report) {
        self.0.lock().unwrap().push(format!("{report:?}"));
    }

    fn ask(&self, questions: Document) -> BoxFuture<'_, Result<Document, Unanswered>> {
        self.0.lock().unwrap().push(questions.text().to_owned());
        Box::pin(std::future::ready(Ok(json(r#"{"q":{"action":"accept"}}"#))))
    }
}

#[tokio::test]
async fn a_handler_reaches_its_caller_through_the_redactor() {
    let mut bench = Setup::new(|counters| {
        vec![with_handler(tool(counters, Effect::Read), counters, |_, context| async move {
            assert_eq!(context.subject().user, "local");
            let caller = context.caller().unwrap();
            let message = Some(format!("with {CANARY}"));
            caller.report(Report::Progress { progress: json("0.50"), total: Some(json("1")), message });
            caller.report(Report::Log(Document::string(CANARY)));
            let canary = Document::string(CANARY);
            let answers =
                caller.ask(json(&format!(r#"{{"q":{{"method":"elicitation/create","params":{canary}}}}}"#))).await;
            Ok(Output::of(&(caller.beside(), answers.unwrap())))
        })]
    })
    .scrubbing()
    .build()
    .await;
    let listening = Arc::new(Listening::default());
    bench.scope.caller = Some(listening.clone());
    let settled = settlement(bench.send(&bench.request("read", "{}")).await);
    let data = settled.result().data.clone().unwrap();
    assert_eq!(data.text(), r#"[{"traceparent":"00-1"},{"q":{"action":"accept"}}]"#);
    let heard = listening.0.lock().unwrap().join("\n");
    assert_eq!(heard.matches("[redacted:CANARY#").count(), 3, "{heard}");
    assert!(heard.contains("progress: 0.50") && !heard.contains(CANARY), "{heard}");
}
