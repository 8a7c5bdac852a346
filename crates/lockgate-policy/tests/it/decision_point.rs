//! A decision point over real connections: what it is asked, and every way in which it does not answer.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::Permission;
use lockgate_contract::ports::{Counts, PolicyDecision, PolicyEngine, PolicyRequest, Redactor};
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_policy::{DecisionPoint, DecisionPointOptions};

use crate::engines::{Epoch, asked, http, point, tool};
use crate::server::{answer, server};

#[tokio::test]
async fn it_is_asked_what_it_needs_to_know() {
    let (url, received) = server(answer("200 OK", r#"{"result":true}"#));
    let engine = point(&format!("{url}?strict-builtin-errors=true"));
    let verdict = asked(&engine, Permission::Ask).await.unwrap();
    assert_eq!((verdict.decision, &verdict.policies), (PolicyDecision::Allow, &vec![format!("http-set:{url}")]));
    let request = received.try_recv().unwrap();
    assert!(request.head.starts_with("POST /v1/data/lockgate/decision?strict-builtin-errors=true HTTP/1.1"));
    assert!(request.head.to_lowercase().contains("content-type: application/json"), "{}", request.head);
    assert!(!request.head.to_lowercase().contains("authorization"));
    // Numbers keep every digit.
    assert!(request.body.contains(r#""arguments":{"amount": 9007199254740993}"#), "{}", request.body);
    let (tool, input) = (tool(Permission::Ask), &request.json()["input"]);
    let arguments = Arguments::parse(r#"{"amount": 9007199254740993}"#, Limits::ARGUMENTS).unwrap();
    let expected = serde_json::json!({
        "v": 1,
        "subject": {"tenant": "default", "user": "local", "agent": "agent", "scopes": [], "domains": [], "level": "external"},
        "tool": {
            "name": "pay",
            "version": tool.version(),
            "effect": "external",
            "definition": tool.definition().to_string(),
            "permission": "ask",
        },
        "arguments": {"amount": 9_007_199_254_740_993_u64},
        "arguments_scrubbed": false,
        "arguments_digest": arguments.digest().to_string(),
        "step": 3,
        "run": {"calls": 4, "actions": 2, "questions": 1, "steps_left": 7},
        "now": "1970-01-01T00:00:00.000Z",
        "shadow": false,
    });
    assert_eq!(*input, expected);
    let (url, received) = server(answer("200 OK", r#"{"result":true}"#));
    asked(&point(&url).in_shadow(), Permission::Allow).await.unwrap();
    assert_eq!(received.try_recv().unwrap().json()["input"]["shadow"], true);
}

#[tokio::test]
async fn a_declared_denial_is_not_even_asked_about() {
    let (url, received) = server(answer("200 OK", r#"{"result":true}"#));
    let verdict = asked(&point(&url), Permission::Deny).await.unwrap();
    assert_eq!((verdict.decision, verdict.policies), (PolicyDecision::Deny, vec!["native:declared-deny".to_owned()]));
    assert!(received.try_recv().is_err());
}

#[tokio::test]
async fn whatever_is_no_answer_is_an_error() {
    let large = format!(r#"{{"result":true,"metrics":"{}"}}"#, "x".repeat(64 * 1024));
    let chunked =
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"result\":true}";
    for (served, expected) in [
        (answer("500 Oops", r#"{"result":true}"#), "answers with status 500"),
        (answer("404 Not Found", r#"{"result":true}"#), "answers with status 404"),
        (answer("201 Created", r#"{"result":true}"#), "answers with status 201"),
        (answer("204 No Content", ""), "answers with status 204"),
        (answer("302 Found\r\nlocation: /elsewhere", r#"{"result":true}"#), "answers with status 302"),
        (answer("200 OK", &large), "answers with more than 65536 bytes"),
        (chunked.into_bytes(), "answers with more than 65536 bytes"),
        (cut.into(), "was not reached"),
        (b"SSH-2.0-OpenSSH\r\n\r\n".to_vec(), "was not reached"),
        (Vec::new(), "was not reached"),
        (answer("200 OK", "{}"), "answer has no `result`"),
        (answer("200 OK", "<html>"), "answer is not JSON"),
        (answer("200 OK", r#"{"result":false,"result":true}"#), "answer is not JSON"),
        (answer("200 OK", r#"{"result":{"decision":"maybe"}}"#), "answer has a `result.decision` that says nothing"),
    ] {
        let (url, _received) = server(served);
        let error = asked(&point(&url), Permission::Allow).await.unwrap_err(); // R-162
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(!error.contains("127.0.0.1"), "{error}");
    }
    let (url, _received) = server(None::<Vec<u8>>);
    let options = DecisionPointOptions { timeout: Duration::from_millis(100), ..DecisionPointOptions::new(url) };
    let silent = DecisionPoint::new(options, Arc::new(Knows), Arc::new(Epoch)).unwrap();
    let error = asked(&silent, Permission::Allow).await.unwrap_err();
    assert_eq!(error, "the decision point gave no answer in time");
    let error = asked(&point("http://127.0.0.1:1/"), Permission::Allow).await.unwrap_err();
    assert!(error.contains("was not reached"), "{error}");
}

/// Knows one word.
struct Knows;

impl Redactor for Knows {
    fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        text.replace("hunter22", "[redacted]").into()
    }

    fn scrub_document(&self, document: &Document) -> Option<Document> {
        let scrubbed = self.scrub(document.text()).into_owned();
        (scrubbed != document.text()).then(|| Document::parse(scrubbed, Limits::OWN).unwrap())
    }
}

#[tokio::test]
async fn no_secret_goes_there_and_none_comes_from_there() {
    let said = r#"{"result":{"decision":"ask","policies":["hunter22"],"reason":"hunter22 is what I was told"}}"#;
    let (url, received) = server(answer("200 OK", said));
    let engine = DecisionPoint::new(DecisionPointOptions::new(&url), Arc::new(Knows), Arc::new(Epoch)).unwrap();
    let tool = tool(Permission::Allow);
    let arguments = Arguments::parse(r#"{"note": "it is hunter22"}"#, Limits::ARGUMENTS).unwrap();
    let subject = Subject::default();
    let request = PolicyRequest {
        subject: &subject,
        tool: &tool,
        arguments: &arguments,
        arguments_digest: arguments.digest(),
        permission: Permission::Allow,
        step: 0,
        run: RunFacts::default(),
        counts: &Counts::unknown(),
    };
    let verdict = engine.decide(request).await.unwrap();
    let sent = received.try_recv().unwrap();
    assert!(!sent.body.contains("hunter22"), "{}", sent.body); // R-178
    assert_eq!(sent.json()["input"]["arguments"]["note"], "it is [redacted]");
    assert_eq!(sent.json()["input"]["arguments_scrubbed"], true);
    assert_eq!(sent.json()["input"]["arguments_digest"], arguments.digest().to_string());
    assert!(!format!("{verdict:?}").contains("hunter22"), "{verdict:?}");
    assert_eq!(verdict.policies[0], "http:[redacted]");
    assert_eq!(verdict.obligations.because.as_deref(), Some("[redacted] is what I was told"));
    // About another subject than the one that acts nobody is asked.
    let known = Subject { user: "hunter22".to_owned(), ..subject.clone() };
    let error = engine.decide(PolicyRequest { subject: &known, ..request }).await.unwrap_err();
    assert!(error.contains("holds a secret") && received.try_recv().is_err(), "{error}");
}

#[tokio::test]
async fn a_reason_is_cut_to_what_people_read() {
    let long = format!(r#"{{"result":{{"allow":false,"reason":"{}"}}}}"#, "é".repeat(10_000));
    let verdict = asked(&http(&long), Permission::Allow).await.unwrap();
    assert_eq!(verdict.decision, PolicyDecision::Deny);
    let shown = verdict.reason.chars().count();
    assert!((2000..2100).contains(&shown) && verdict.reason.ends_with('…'), "{shown}");
}
