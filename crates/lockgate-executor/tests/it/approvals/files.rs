//! An approval is bound to the files that a call would use, as they were when it was asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::arguments::Arguments;
use lockgate_contract::digest::Digest;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::{ApprovalFilter, Decision, DecisionRefused, Journal as _, PolicyDecision};
use lockgate_contract::tool::Output;
use lockgate_executor::Request;

use crate::bench::{Answer, Bench, CANARY, Setup, code, tool, with_handler, word};

/// What is on the disk.
type Disk = Arc<Mutex<BTreeMap<String, Digest>>>;

/// A setup whose tool uses what is on the disk.
fn setup(disk: &Disk, effect: Effect) -> Setup {
    let disk = Arc::clone(disk);
    Setup::new(|counters| {
        let builder = tool(counters, effect).permission(Permission::Ask).binds_files(move |_| {
            let files = disk.lock().map_err(|_| "The disk is gone.".to_owned())?.clone();
            if files.is_empty() { Err("There is no such script.".to_owned()) } else { Ok(files) }
        });
        vec![with_handler(builder, counters, |_, _| async { Ok(Output::of("done")) })]
    })
}

fn script(content: &str) -> BTreeMap<String, Digest> {
    [("deploy.sh".to_owned(), Digest::of_text("test", content))].into()
}

/// The script as it was, and one beside it.
fn with_another() -> BTreeMap<String, Digest> {
    let mut files = script("as it was");
    files.insert("more.sh".to_owned(), Digest::of_text("test", "x"));
    files
}

async fn granted(bench: &Bench, effect: Effect) -> Request {
    let mut request = bench.approved(effect.word()).await;
    let open = bench.journal.approvals(ApprovalFilter::default()).await.unwrap();
    request.terms.approval = Some(open[0].approval_id.clone());
    request
}

#[tokio::test]
async fn a_script_that_was_changed_while_the_approval_waited_does_not_run() {
    for effect in [Effect::Write, Effect::External] {
        for (later, expected, runs) in [
            (script("as it was"), "ok", 1),
            (script("rm -rf"), "approval_stale", 0),
            ([("other.sh".to_owned(), Digest::of_text("test", "as it was"))].into(), "approval_stale", 0),
            (with_another(), "approval_stale", 0),
            (BTreeMap::new(), "rejected_by_tool", 0),
        ] {
            let disk: Disk = Arc::new(Mutex::new(script("as it was")));
            let bench = setup(&disk, effect).build().await;
            let request = granted(&bench, effect).await;
            *disk.lock().unwrap() = later;
            assert_eq!(word(&bench.send(&request).await), expected, "{effect}"); // S-37, S-38
            assert_eq!(bench.handler_count(), runs, "{expected}, {effect}"); // R-173
        }
    }
}

#[tokio::test]
async fn a_person_is_shown_them() {
    let disk: Disk = Arc::new(Mutex::new(script("as it was")));
    let bench = setup(&disk, Effect::Write).scrubbing().build().await;
    let asked = bench.ask(&bench.request("write", "{}")).await.approval_id().clone();
    let record = bench.journal.approval(&asked).await.unwrap().unwrap();
    let line =
        format!("files, as they were when this was asked:\n  deploy.sh: {}\n", Digest::of_text("test", "as it was"));
    assert!(record.shown_text.contains(&line), "{}", record.shown_text);
    assert!(record.shows_what_is_bound());
    let data = bench.events().await[1].data.text().to_owned();
    assert!(data.contains(r#""circumstances":{"files":{"deploy.sh":"sha256:"#), "{data}");
}

#[tokio::test]
async fn a_files_name_that_is_a_secret_is_shown_to_nobody() {
    let disk: Disk = Arc::new(Mutex::new([(CANARY.to_owned(), Digest::of_text("test", "a"))].into()));
    let bench = setup(&disk, Effect::Write).scrubbing().build().await;
    let request = granted(&bench, Effect::Write).await;
    assert!(!bench.stored_text().await.contains(CANARY)); // R-178
    assert_eq!(word(&bench.send(&request).await), "ok");
}

#[tokio::test]
async fn files_that_cannot_be_looked_at_stop_the_call_before_anybody_is_asked() {
    let disk: Disk = Disk::default();
    let bench = setup(&disk, Effect::External).build().await;
    let settled = bench.call("external").await;
    assert_eq!(code(&settled), "rejected_by_tool");
    assert_eq!(settled.result().error.as_ref().unwrap().message, "There is no such script.");
    let panics = Setup::new(|counters| {
        let builder =
            tool(counters, Effect::External).permission(Permission::Ask).binds_files(|_| panic!("secret path"));
        vec![with_handler(builder, counters, |_, _| async { Ok(Output::of("done")) })]
    })
    .build()
    .await;
    let settled = panics.call("external").await;
    assert_eq!(code(&settled), "rejected_by_tool");
    assert!(!settled.result().error.as_ref().unwrap().message.contains("secret"));
    for bench in [bench, panics] {
        assert_eq!(bench.kinds().await, ["tool.requested", "tool.failed"]); // S-43
        assert_eq!(bench.handler_count(), 0);
    }
}

#[tokio::test]
async fn nobody_looks_at_them_for_a_call_about_which_nobody_is_asked() {
    let disk: Disk = Disk::default();
    let bench = setup(&disk, Effect::External).policy(Answer::Is(PolicyDecision::Allow)).build().await;
    assert_eq!(code(&bench.call("external").await), "ok");
}

#[tokio::test]
async fn other_arguments_would_use_other_files_and_are_no_edit() {
    let disk: Disk = Arc::new(Mutex::new(script("as it was")));
    let bench = setup(&disk, Effect::Write).build().await;
    let asked = bench.ask(&bench.request("write", "{}")).await.approval_id().clone();
    let edit = Arguments::parse(r#"{"n":2}"#, Limits::ARGUMENTS).unwrap();
    let decision = Decision { edit: Some(edit), ..Decision::new(asked.clone(), ApprovalState::Granted, "bob") };
    let refused = bench.gate.decide(decision).await.unwrap_err();
    assert!(matches!(refused, DecisionRefused::Edit { .. }), "{refused}");
    assert_eq!(bench.journal.approval(&asked).await.unwrap().unwrap().state, ApprovalState::Pending);
}
