use std::sync::Mutex;
use std::time::Duration;

use lockgate_contract::ids::CallId;
use lockgate_contract::outcome::ToolCode;
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::{IdempotencyKey, OutputContent};
use tokio_util::sync::CancellationToken;

use super::super::tests::{Fake, document, settings, upstreams_of};
use super::super::{Settings, Upstreams};
use super::*;

fn context() -> ToolContext {
    let key = IdempotencyKey::new(Arc::new(Subject::default()), CallId::new("run-1/0/0"));
    ToolContext::new(CancellationToken::new(), Timestamp::from_millis(0), key)
}

fn call(effect: Effect, replay: ReplayPolicy) -> CallOf {
    CallOf { raw: "do.it".to_owned(), mirrors: None, timeout: Duration::from_secs(30), effect, replay }
}

const EXTERNAL: (Effect, ReplayPolicy) = (Effect::External, ReplayPolicy::Never);

async fn server(settings: Settings, fake: &Arc<Fake>) -> (Upstreams, Arc<Upstream>) {
    let (upstreams, _) = upstreams_of(vec![(settings, fake)]);
    upstreams.settled().await;
    let upstream = upstreams.get("s").unwrap();
    (upstreams, upstream)
}

async fn run_with(
    answer: impl Fn(&Errand) -> Result<Document, ClientError> + Send + Sync + 'static,
    (effect, replay): (Effect, ReplayPolicy),
) -> Result<Output, Failure> {
    let fake = Fake::with_tools(&["do.it"]);
    *fake.answer.lock().unwrap() = Arc::new(answer);
    let (_upstreams, upstream) = server(settings("s"), &fake).await;
    let arguments = Arguments::from_document(document(r#"{"n":1.50}"#)).unwrap();
    run(&upstream, &call(effect, replay), &arguments, context()).await
}

#[tokio::test]
async fn a_call_carries_the_raw_name_and_the_very_arguments() {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sent);
    let answer = move |errand: &Errand| {
        let beside = errand.beside.as_ref().unwrap();
        seen.lock().unwrap().push((errand.method, errand.params.text().to_owned(), beside.text().to_owned()));
        Ok(document(
            r#"{"content":[{"type":"text","text":"ok"}],"structuredContent":{"a":1e2},"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{},"x/y":1},"future":true}"#,
        ))
    };
    let output = run_with(answer, EXTERNAL).await.unwrap();
    let OutputContent::Value(data) = output.content else { panic!() };
    let expected =
        r#"{"content":[{"type":"text","text":"ok"}],"structuredContent":{"a":1e2},"_meta":{"x/y":1},"future":true}"#;
    assert_eq!(data.text(), expected, "all of it but what belongs to the hop");
    let sent = sent.lock().unwrap();
    let [(method, params, beside)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!((*method, params.as_str()), ("tools/call", r#"{"name":"do.it","arguments":{"n":1.50}}"#));
    assert_eq!(*beside, format!(r#"{{"{KEY_IN_META}":"{}"}}"#, context().idempotency_key));
}

#[tokio::test]
async fn the_key_goes_where_it_was_configured_to() {
    let fake = Fake::with_tools(&["do.it"]);
    let seen = Arc::new(Mutex::new(None));
    let noted = Arc::clone(&seen);
    *fake.answer.lock().unwrap() = Arc::new(move |errand| {
        *noted.lock().unwrap() = Some(errand.params.text().to_owned());
        Ok(document(r#"{"content":[]}"#))
    });
    let mut one = settings("s");
    one.key = KeyGoes::Argument("request_id".to_owned());
    let (_upstreams, upstream) = server(one, &fake).await;
    run(&upstream, &call(Effect::External, ReplayPolicy::Never), &Arguments::empty(), context()).await.unwrap();
    let key = context().idempotency_key;
    let expected = format!(r#"{{"name":"do.it","arguments":{{"request_id":"{key}"}}}}"#);
    assert_eq!(seen.lock().unwrap().as_deref(), Some(expected.as_str()));
}

#[tokio::test]
async fn a_reported_failure_keeps_all_that_was_said() {
    let result =
        r#"{"content":[{"type":"text","text":"no such file"}],"isError":true,"structuredContent":{"errno":2}}"#;
    let failure = run_with(move |_| Ok(document(result)), EXTERNAL).await.unwrap_err();
    let Failure::Business { code, message, details, effect_state, retryable } = failure else { panic!("{failure:?}") };
    assert_eq!((code.word(), message.as_str(), retryable), (TOOL_FAILED, "no such file", false));
    assert_eq!(details.unwrap().text(), result);
    assert_eq!(effect_state, EffectState::Done, "nobody vouches that nothing happened");
}

/// What is known of the world, in a word.
fn known(failure: &Failure) -> &'static str {
    match failure {
        Failure::OutcomeUnknown { .. } => "unknown",
        Failure::Environment { nothing_happened: true, .. } => "nothing happened",
        Failure::Environment { .. } => "environment",
        Failure::Business { effect_state, .. } => effect_state.word(),
        Failure::Bug { .. } => "bug",
    }
}

#[tokio::test]
async fn what_is_not_known_is_not_guessed() {
    let read = (Effect::Read, ReplayPolicy::Safe);
    let keyed = (Effect::External, ReplayPolicy::Safe);
    let timed_out = || ClientError::TimedOut {
        waited: Duration::from_secs(1),
        total: Duration::from_secs(2),
        idle: Duration::from_secs(1),
        absolute: Duration::from_secs(9),
    };
    let said = |code| ClientError::answered(RpcError::new(code, "no"));
    for (error, of_external, of_keyed, of_read) in [
        (ClientError::NotSent("gone".to_owned()), "nothing happened", "nothing happened", "nothing happened"),
        (ClientError::Lost("gone".to_owned()), "unknown", "environment", "nothing happened"),
        (timed_out(), "unknown", "environment", "nothing happened"),
        (ClientError::Cancelled, "unknown", "environment", "nothing happened"),
        (ClientError::Invalid("what".to_owned()), "unknown", "environment", "nothing happened"),
        (ClientError::Unauthorized { challenge: None }, "nothing happened", "nothing happened", "nothing happened"),
        // Tools raise these while they run: wrong arguments, a resource that is not there, a client that cannot be asked.
        (said(code::INVALID_PARAMS), "done", "done", "none"),
        (said(code::INVALID_REQUEST), "done", "done", "none"),
        (said(code::METHOD_NOT_FOUND), "done", "done", "none"),
        (said(code::PARSE_ERROR), "done", "done", "none"),
        (said(code::RESOURCE_NOT_FOUND), "done", "done", "none"),
        (said(code::INTERNAL_ERROR), "done", "done", "none"),
        (said(code::MISSING_CAPABILITY), "done", "done", "none"),
        (said(code::URL_ELICITATION_REQUIRED), "done", "done", "none"),
        // These are no tool's to raise.
        (said(code::HEADER_MISMATCH), "none", "none", "none"),
        (said(code::UNSUPPORTED_VERSION), "none", "none", "none"),
        // One that the server could not read.
        (ClientError::Refused(RpcError::invalid_params("no")), "none", "none", "none"),
        // The same words, after an earlier message about it was taken up.
        (said(code::HEADER_MISMATCH).after_it_was_taken_up(), "done", "done", "none"),
    ] {
        for (of, expected) in [(EXTERNAL, of_external), (keyed, of_keyed), (read, of_read)] {
            let again = error.clone();
            let failure = run_with(move |_| Err(again.clone()), of).await.unwrap_err();
            assert_eq!(known(&failure), expected, "{error:?} of {of:?}: {failure:?}");
        }
    }
}

#[tokio::test]
async fn an_unknown_tool_is_looked_for_again() {
    let failure =
        run_with(|_| Err(ClientError::Server(RpcError::invalid_params("Unknown tool: do.it"))), EXTERNAL).await;
    let Err(Failure::Business { code, effect_state, .. }) = failure else { panic!("{failure:?}") };
    assert_eq!(code, ToolCode::new(SERVER_REFUSED).unwrap());
    // A tool that calls others by their names says the same of one of those.
    assert_eq!(effect_state, EffectState::Done, "words are no proof that nothing happened");
}
