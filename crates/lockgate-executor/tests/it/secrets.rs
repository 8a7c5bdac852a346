//! One secret, in every place where a text leaves the gate (R-083, R-178, Z-02, Z-03; err-secret-in-exception).

use std::io::Write;
use std::sync::{Arc, Mutex};

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::Document;
use lockgate_contract::effect::{Effect, ErrorText, Permission};
use lockgate_contract::ports::ArtifactStore as _;
use lockgate_contract::tool::{
    Failure, Output, ToolContext, ToolEnvironmentError, ToolExecutionError, ToolSpecBuilder,
};
use lockgate_executor::Released;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::bench::{Bench, CANARY, Setup, settlement, tool, with_handler};

/// Everything that is logged, spans included.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn listen(&self) -> tracing::subscriber::DefaultGuard {
        let log = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_span_events(FmtSpan::FULL)
            .with_writer(move || log.clone())
            .finish();
        tracing::subscriber::set_default(subscriber)
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// What a handler does with the secret.
type Act = fn(ToolContext) -> Result<Output, Failure>;

/// What else of the tool holds it.
type Shape = fn(ToolSpecBuilder) -> ToolSpecBuilder;

/// The one place of which nothing is quoted anywhere.
const NOT_QUOTED: &str = "raw output that is no JSON";

/// A call whose tool name, or arguments, or tool holds the secret.
struct Case {
    place: &'static str,
    tool: String,
    arguments: String,
    language: ActionLanguage,
    act: Act,
    shape: Shape,
}

fn case(place: &'static str, act: Act) -> Case {
    Case {
        place,
        tool: "write".to_owned(),
        arguments: "{}".to_owned(),
        language: ActionLanguage::Call,
        act,
        shape: |builder| builder,
    }
}

fn shaped(place: &'static str, shape: Shape) -> Case {
    Case { shape, ..case(place, |_| Ok(Output::of("fine"))) }
}

/// The secret with every character as a JSON escape.
fn escaped() -> String {
    let escapes: Vec<String> = CANARY.chars().map(|character| format!("\\u{:04x}", u32::from(character))).collect();
    escapes.concat()
}

fn cases() -> Vec<Case> {
    let in_json = Document::string(CANARY).text().to_owned();
    let fine: Act = |_| Ok(Output::of("fine"));
    vec![
        Case { tool: CANARY.to_owned(), ..case("unknown tool", fine) },
        Case { tool: format!("write {CANARY}"), ..case("part of an unknown tool", fine) },
        Case { arguments: format!(r#"{{"text":{in_json}}}"#), ..case("argument", fine) },
        Case { arguments: format!(r#"{{"text":"{}"}}"#, escaped()), ..case("argument in escapes", fine) },
        Case { arguments: format!(r#"{{"text":"{}""#, escaped()), ..case("broken arguments in escapes", fine) },
        Case { arguments: format!(r"{{{in_json}:1}}"), ..case("argument name", fine) },
        Case { arguments: format!(r#"{{"n":{in_json}}}"#), ..case("argument of the wrong type", fine) },
        Case { arguments: CANARY.to_owned(), ..case("arguments that are no JSON", fine) },
        Case {
            arguments: format!("login('{CANARY}')"),
            language: ActionLanguage::Code,
            ..case("code in place of a call", fine)
        },
        Case {
            arguments: format!(r#"{{"text":{in_json}}}"#),
            ..shaped("argument that a person is shown", |builder| builder.permission(Permission::Ask))
        },
        case("output", |_| Ok(Output::of(CANARY))),
        case("output value", |_| Ok(Output::of(&serde_json::json!({"a": [{"b": CANARY}]})))),
        case("output key", |_| Ok(Output::of(&serde_json::json!({ CANARY: 1 })))),
        case("raw output", |_| Ok(Output::raw(format!("[{}]", Document::string(CANARY).text())))),
        case(NOT_QUOTED, |_| Ok(Output::raw(CANARY))),
        case("bytes", |_| Ok(Output::text_from_bytes(format!("\u{fffd}{CANARY}").as_bytes()))),
        case("large output", |_| Ok(Output::of(&format!("{CANARY} ").repeat(1000)))),
        case("business message", |_| Err(ToolExecutionError::new("no_luck", format!("with {CANARY}")).into())),
        case("long business message", |_| {
            // The message is cut at 2000 characters, in the middle of the secret.
            Err(ToolExecutionError::new("no_luck", format!("{}{CANARY}", "x".repeat(1990))).into())
        }),
        case("impossible business code", |_| Err(ToolExecutionError::new(CANARY, "no").into())),
        case("environment", |_| Err(ToolEnvironmentError::new(format!("at {CANARY}")).into())),
        case("unknown outcome", |_| Err(Failure::OutcomeUnknown { message: format!("after {CANARY}") })),
        case("bug", |_| Err(Failure::bug(format!("key {CANARY} at /srv/app.rs")))),
        case("panic", |_| panic!("with {CANARY}")),
        case("progress", |context| {
            context.progress(&format!("sending {CANARY}"));
            Ok(Output::of("fine"))
        }),
        Case {
            act: |_| Err(Failure::bug(format!("key {CANARY} refused\nat {CANARY}"))),
            ..shaped("vouched text", |builder| builder.error_text(ErrorText::Vouched))
        },
        Case {
            act: |_| panic!("with {CANARY}"),
            ..shaped("vouched panic", |builder| builder.error_text(ErrorText::Vouched))
        },
        Case {
            act: |_| Ok(Output::of(&serde_json::json!({ CANARY: CANARY }))),
            ..shaped("output of a wrong form", |builder| {
                builder.output_schema_text(
                    r#"{"type":"object","properties":{},"additionalProperties":{"type":"integer"}}"#,
                )
            })
        },
        shaped("the tool's own refusal", |builder| builder.pre_check(|_| Err(format!("not {CANARY}")))),
        shaped("panic of the tool's own check", |builder| builder.pre_check(|_| panic!("{CANARY}"))),
        shaped("reason of a denial", |builder| builder.permission(Permission::Deny).permission_reason(CANARY)),
        shaped("reason of a question", |builder| builder.permission(Permission::Ask).permission_reason(CANARY)),
    ]
}

/// Every text of a call that somebody can read afterwards.
async fn everything(bench: &Bench, released: &Released) -> Vec<String> {
    let json = |value: Document| value.text().to_owned();
    let mut texts = vec![bench.stored_text().await];
    match released {
        Released::Settled(settlement) => {
            let (result, outcome) = (settlement.result(), settlement.outcome());
            texts.push(json(Document::from_serialize(result).unwrap()));
            texts.push(json(Document::from_serialize(settlement.settled()).unwrap()));
            texts.push(json(outcome.observation.clone()));
            texts.push(format!("{settlement:?}"));
            if let Some(artifact) = &result.meta.artifact {
                texts.push(bench.scope.log.read(artifact).await.unwrap());
            }
        }
        Released::Open(open) => {
            texts.push(json(Document::from_serialize(open.result()).unwrap()));
            texts.push(json(Document::from_serialize(open.audit()).unwrap()));
        }
        other => panic!("{other:?}"),
    }
    texts.extend(bench.seen.lock().unwrap().iter().map(|event| event.data.text().to_owned()));
    texts
}

#[tokio::test]
async fn no_text_that_leaves_holds_it() {
    for Case { place, tool: name, arguments, language, act, shape } in cases() {
        let log = Log::default();
        let listening = log.listen();
        let mut bench = Setup::new(|counters| {
            let builder = shape(tool(counters, Effect::Write));
            vec![with_handler(builder, counters, move |_, context| async move { act(context) })]
        })
        .max_output_bytes(2000)
        .scrubbing()
        .build()
        .await;
        let progress: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&progress);
        bench.scope.progress = Some(Arc::new(move |words| noted.lock().unwrap().push(words.to_owned())));
        let mut request = bench.request(&name, &arguments);
        request.call.language = language;
        let released = bench.send(&request).await;
        drop(listening);

        let mut texts = everything(&bench, &released).await;
        texts.extend(progress.lock().unwrap().iter().cloned()); // R-221
        texts.push(log.text());
        assert!(log.text().contains("execute_tool"), "{place}: nothing was logged");
        for text in &texts {
            for part in ["Yellow", "canary/", "Bird", "\\u0059"] {
                assert!(!text.contains(part), "{place}: {part} in {text}"); // R-064, R-083, R-178, Z-02, Z-03
            }
        }
        let marked = texts.iter().any(|text| text.contains("[redacted:CANARY#"));
        assert_eq!(marked, place != NOT_QUOTED, "{place}: the secret never came through here:\n{}", texts.join("\n"));
    }
}

#[tokio::test]
async fn the_handler_itself_gets_the_true_arguments() {
    let got: Arc<Mutex<String>> = Arc::default();
    let noted = Arc::clone(&got);
    let bench = Setup::new(move |counters| {
        vec![with_handler(tool(counters, Effect::Write), counters, move |arguments, _| {
            *noted.lock().unwrap() = arguments.root().get("text").unwrap().as_str().unwrap().into_owned();
            async { Ok(Output::of("fine")) }
        })]
    })
    .scrubbing()
    .build()
    .await;
    let arguments = format!(r#"{{"text":{}}}"#, Document::string(CANARY).text());
    assert!(settlement(bench.send(&bench.request("write", &arguments)).await).result().ok);
    assert_eq!(*got.lock().unwrap(), CANARY); // R-053
}

#[tokio::test]
async fn a_vouched_text_is_shown_without_what_belongs_to_the_machine() {
    let bench = Setup::new(|counters| {
        let builder = tool(counters, Effect::Write).error_text(ErrorText::Vouched);
        let text = "the ledger at '/srv/my app/ledger.db' is locked\n  at src/main.rs:7";
        vec![with_handler(builder, counters, move |_, _| async move { Err(Failure::bug(text)) })]
    })
    .scrubbing()
    .build()
    .await;
    let settlement = bench.call("write").await;
    let error = settlement.result().error.as_ref().unwrap();
    assert_eq!(error.code.word(), "tool_internal_error");
    assert_eq!(error.message, "the ledger at [path] is locked"); // C-4, R-104, R-180
    let audit = settlement.settled().audit.text.as_deref().unwrap();
    assert!(audit.contains("/srv/my app/ledger.db") && audit.contains("src/main.rs:7")); // R-179, R-261
}

#[tokio::test]
async fn an_error_id_leads_from_the_model_to_the_log() {
    let log = Log::default();
    let listening = log.listen();
    let bench =
        Setup::new(|counters| crate::bench::failing(counters, || Failure::bug("the ledger is locked"))).build().await;
    let first = bench.call("write").await;
    let second = bench.call("write").await;
    drop(listening);
    let id = first.result().meta.error_id.as_ref().unwrap();
    assert_ne!(Some(id), second.result().meta.error_id.as_ref());
    assert!(first.settled().model_content().text().contains(id.as_str())); // R-179, R-254
    let log = log.text();
    let line = log.lines().find(|line| line.contains(id.as_str())).unwrap();
    assert!(line.contains("the ledger is locked") && line.contains(first.result().call_id.as_str()), "{line}"); // R-217
}
