//! A secret leaves by no door: not to the model, not into the journal, not into records, artifacts or spans (R-178…R-182).

mod places;

use std::io::Write;
use std::sync::Mutex;
use std::time::Duration;

use lockgate::contract::approval::ApprovalState;
use lockgate::contract::effect::{ErrorText, Permission};
use lockgate::contract::ports::{BoxFuture, ModelError, PolicyDecision, PolicyRequest, PolicyVerdict, RunFilter};
use lockgate::redact::SecretValue;

use self::places::PLACES;
use super::file::{Case, proposed};
use crate::world::{Act, Turn, World, at_once, in_time};
use lockgate::prelude::*;

/// Everything that is traced on this thread, as text.
#[derive(Clone, Default)]
struct Traced(Arc<Mutex<Vec<u8>>>);

impl Traced {
    fn begin() -> (Self, tracing::subscriber::DefaultGuard) {
        use tracing_subscriber::fmt::format::FmtSpan;
        let traced = Self::default();
        let writer = traced.clone();
        let subscriber = tracing_subscriber::fmt()
            .json()
            .with_span_events(FmtSpan::FULL)
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || writer.clone())
            .finish();
        (traced, tracing::subscriber::set_default(subscriber))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Traced {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn knowing(world: &mut World, secret: &str) {
    let mut builder = ScrubberBuilder::new();
    builder.secret("CANARY", SecretValue::new(secret)).unwrap();
    world.redactor = Arc::new(builder.build().unwrap());
}

pub(super) async fn in_an_exception(case: Case) {
    let raised = case.text("/input/tool_raises");
    let text = raised.split('\'').nth(1).unwrap();
    let (secret, path) = text.split_once(" at ").unwrap();
    for (act, error_text) in [
        (
            at_once({
                let text = text.to_owned();
                move |_| Err(Failure::bug(text.as_str()))
            }) as Act,
            ErrorText::Hidden,
        ),
        (
            at_once({
                let text = text.to_owned();
                move |_| panic!("{text}")
            }),
            ErrorText::Hidden,
        ),
        (
            at_once({
                let text = text.to_owned();
                move |_| Err(std::io::Error::other(text.as_str()).into())
            }),
            ErrorText::Hidden,
        ),
        (
            at_once({
                let text = text.to_owned();
                move |_| Err(Failure::bug(text.as_str()))
            }),
            ErrorText::Vouched,
        ),
    ] {
        for mut world in World::of_each_kind() {
            let (traced, _guard) = Traced::begin();
            knowing(&mut world, secret);
            world.add(ToolSpec::builder("act").effect(Effect::Read).error_text(error_text), act.clone());
            let ran = world.run(vec![proposed("c", "act", "{}")]).await;
            assert_eq!(ran.codes(), ["tool_internal_error"]); // R-074
            let told = ran.told(0);
            assert!(told.contains("err-"), "an id that leads to the log: {told}"); // R-179
            assert!(!told.contains(secret) && !told.contains(path) && !told.contains("internal.py"), "{told}"); // R-180, R-245
            if error_text == ErrorText::Hidden {
                assert!(!told.contains("canary") && !told.contains("CANARY"), "nothing of the text: {told}");
            }
            // The truth is for people, without the secret.
            assert!(ran.audit(0).contains(path), "{}", ran.audit(0));
            let id = ran.settled(0).meta.error_id.clone().unwrap();
            let traced = traced.text();
            assert!(traced.contains(id.as_str()), "{traced}");
            assert!(!traced.contains(secret) && !ran.journal_text().contains(secret));
        }
    }
}

/// A secret with everything that an encoding may change.
const SECRET: &str = "pa\"ss\\w/örd 42&x";

fn quoted(secret: &str) -> String {
    serde_json::to_string(secret).unwrap()
}

fn act(effect: Effect) -> lockgate::ToolSpecBuilder {
    let tool = ToolSpec::builder("act").effect(effect).permission(Permission::Allow);
    tool.input_schema_text(r#"{"type":"object"}"#)
}

/// Whether the secret stands in a text, as it is or as JSON writes it, once or twice.
fn leaks(text: &str, secret: &str) -> bool {
    let once = quoted(secret);
    let twice = quoted(&once);
    let inner = |quoted: &str, marks: usize| quoted[marks..quoted.len() - marks].to_owned();
    [secret.to_owned(), inner(&once, 1), inner(&twice, 3)].iter().any(|form| text.contains(form.as_str()))
}

#[tokio::test]
async fn a_secret_leaves_by_no_door() {
    // One that is known by its value, and one that is known by its form.
    let token: &'static str = Box::leak(format!("ghp_{}", "a1B2c3D4".repeat(5)).into_boxed_str());
    for (secret, known) in [(SECRET, true), (token, false)] {
        for (what, put) in PLACES {
            for mut world in World::of_each_kind() {
                if known {
                    knowing(&mut world, secret);
                }
                let said = Arc::new(Mutex::new(String::new()));
                let words = Arc::clone(&said);
                world.runner.progress = Some(Arc::new(move |text: &str| words.lock().unwrap().push_str(text)));
                let (traced, guard) = Traced::begin();
                let turns = put(&mut world, secret);
                let ran = world.run_turns(turns).await;
                drop(guard);

                let mut doors = vec![("the journal", ran.journal_text())];
                doors.push(("the spans", traced.text()));
                doors.push(("the result", serde_json::to_string(&ran.result).unwrap()));
                doors.push(("progress", said.lock().unwrap().clone()));
                // The model gave the arguments; what it is sent again is what is stored.
                doors.push(("the requests", format!("{:?}", world.requests())));
                let questions = world.questions(ran.run_id()).await;
                doors.push(("the questions", serde_json::to_string(&questions).unwrap()));
                let runs = world.journal.runs(RunFilter::default()).await.unwrap();
                doors.push(("the list of runs", runs.iter().map(|run| run.title.as_str()).collect()));
                for call in ran.state.calls() {
                    if let Some(artifact) = call.settled.as_ref().and_then(|settled| settled.meta.artifact.clone()) {
                        let stored = world.journal.artifact(ran.run_id(), &artifact).await.unwrap();
                        doors.push(("the artifact", stored.unwrap()));
                    }
                }
                for (door, text) in doors {
                    assert!(!leaks(&text, secret), "{what} leaves by {door}: {text}");
                }
            }
        }
    }
}

/// The handler gets what the model sent: scrubbing is for what leaves.
#[tokio::test]
async fn a_handler_gets_the_arguments_as_they_are() {
    let mut world = World::in_memory();
    knowing(&mut world, SECRET);
    world.add(act(Effect::Write), at_once(|_| Ok(Output::of("done"))));
    let arguments = format!(r#"{{"password":{}}}"#, quoted(SECRET));
    let ran = world.run(vec![proposed("c", "act", &arguments)]).await;
    assert_eq!(ran.codes(), ["ok"]);
    assert_eq!(world.entered(), [arguments]);
}

/// What was scrubbed is not what was approved: it is never run.
#[tokio::test]
async fn scrubbed_arguments_do_not_outlive_their_process() {
    for mut world in World::of_each_kind() {
        knowing(&mut world, SECRET);
        world.add(act(Effect::Write).permission(Permission::Ask), at_once(|_| Ok(Output::of("done"))));
        let arguments = format!(r#"{{"password":{}}}"#, quoted(SECRET));
        let ran = world.run(vec![proposed("c", "act", &arguments)]).await;
        let question = world.questions(ran.run_id()).await.remove(0);
        assert!(question.shown_text.contains("[redacted:CANARY"), "{}", question.shown_text);
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        let resumed = world.restarted().resume(ran.run_id()).await;
        assert_eq!(resumed.codes(), ["approval_stale"]);
        assert!(world.entered().is_empty());
    }
}

/// Direct calls pass the same door.
#[tokio::test]
async fn a_direct_call_leaks_nothing_either() {
    let mut world = World::in_memory();
    world.options.call_timeout = Duration::from_secs(5);
    knowing(&mut world, SECRET);
    world.add(act(Effect::Write), at_once(|arguments| Ok(Output::new(arguments.document().clone()))));
    let (traced, guard) = Traced::begin();
    for (name, arguments) in
        [("act", format!(r#"{{"a":{}}}"#, quoted(SECRET))), ("act", format!("{{{SECRET}")), (SECRET, "{}".to_owned())]
    {
        let answer = world.direct(name, &arguments).await;
        let events = world.journal.events(&answer.run_id, 0).await.unwrap();
        for text in [
            serde_json::to_string(&answer.result).unwrap(),
            serde_json::to_string(&answer.audit).unwrap(),
            serde_json::to_string(&events).unwrap(),
            world.journal.run(&answer.run_id).await.unwrap().unwrap().title,
        ] {
            assert!(!leaks(&text, SECRET), "{name}: {text}");
        }
    }
    drop(guard);
    assert!(!leaks(&traced.text(), SECRET), "{}", traced.text());
}

/// What a person writes beside an answer goes into the journal as well.
#[tokio::test]
async fn the_reason_of_an_answer_is_scrubbed() {
    for mut world in World::of_each_kind() {
        knowing(&mut world, SECRET);
        world.add(act(Effect::Write).permission(Permission::Ask), at_once(|_| Ok(Output::of("done"))));
        let ran = world.run(vec![proposed("c", "act", "{}")]).await;
        let question = world.questions(ran.run_id()).await.remove(0);
        let decision = lockgate::contract::ports::Decision {
            reason: Some(format!("log in with {SECRET}")),
            ..lockgate::contract::ports::Decision::new(question.approval_id, ApprovalState::Granted, "reviewer")
        };
        world.runner(Vec::new()).gate().decide(decision).await.unwrap();
        let resumed = world.resume(ran.run_id()).await;
        assert!(!leaks(&resumed.journal_text(), SECRET));
        let questions = world.questions(ran.run_id()).await;
        assert!(!leaks(&serde_json::to_string(&questions).unwrap(), SECRET));
    }
}
