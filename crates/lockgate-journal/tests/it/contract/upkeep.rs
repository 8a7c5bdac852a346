//! Whole runs: out of one journal, and into another one.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::document::Document;
use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{Chain, EventType, Finding};
use lockgate_contract::export::{ExportFault, Reader, Writer, event_from_line, event_line};
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::ports::{
    CallState, ClaimRefused, Clock as _, Journal, JournalError, KeptQuestion, KeptRun, Lease, NewRun, RunFilter,
    Settling,
};
use lockgate_contract::run::{RunKind, RunStatus};
use lockgate_journal::{SigningJournal, SigningKey, Unsound};

use crate::support::{
    Fixture, OPEN_FOR, START, approval, artifact, caller_key, claim, decision, event, event_with, found, new_run,
    settled, settling,
};

contract! {
    an_export_is_taken_by_every_kind_of_journal_and_comes_back_to_the_byte;
    the_corpus_goes_through;
    an_imported_run_goes_on_where_it_was;
    a_run_that_is_there_is_not_imported;
    a_run_that_does_not_hold_together_is_not_imported;
    a_live_key_is_not_taken_by_an_import;
    a_driven_run_is_exported_as_of_one_moment;
    the_events_of_a_chained_run_are_tied_to_each_other;
    a_run_that_is_not_chained_has_no_hashes;
    the_decisions_of_a_signed_run_are_signed_wherever_they_are_kept;
}

/// A run with something of everything; the time is a minute later.
pub(super) async fn full(f: &Fixture, id: &str) -> Lease {
    let run = f.create(id).await;
    let (first, second) = (run.call(0, 0), run.call(0, 1));
    let text =
        "{ \"number\" : 123456789012345678901234567890.1230e-5 ,\n\t\"text\": \"né \\u0000 😀 \u{2028}\",\r\"z\":-0.0}";
    f.journal.append(&run, vec![event_with("future.thing", text), event_with("x.b", "null")]).await.unwrap();
    let now = f.clock.now();
    for id in [format!("apr-1-of-{id}"), format!("apr-0-of-{id}")] {
        let asked = Approval { requested_at: now, expires_at: now.after(OPEN_FOR), ..approval(&run, &id) };
        f.journal.ask(&run, asked, vec![event("approval.requested")]).await.unwrap();
    }
    let mut yes = decision(&format!("apr-1-of-{id}"), ApprovalState::Granted);
    yes.reason = Some("because\u{0}\n".to_owned());
    f.journal.decide(yes).await.unwrap();
    f.clock.pass(Duration::from_millis(3));
    let mut right = claim(&first, 1, Some(&format!("apr-1-of-{id}")));
    right.caller_key = Some(caller_key(&format!("key \u{0} of {id}"), "request"));
    f.journal.claim(&run, right, vec![event("tool.started")]).await.unwrap();
    let kept =
        Settling { call_id: first.clone(), attempt: 1, late: false, artifact: Some(artifact("art-1", "text \u{0}\n")) };
    f.journal.settle(&run, kept, vec![settled(&first, EffectState::Unknown)]).await.unwrap();
    f.journal.reconcile(&run, &first, vec![found(&first, Finding::Done)]).await.unwrap();
    f.journal.claim(&run, claim(&second, 2, None), vec![event("tool.started")]).await.unwrap();
    f.journal.settle(&run, settling(&second, Some(artifact("art-0", ""))), vec![event("x.end")]).await.unwrap();
    f.journal.settle(&run, settling(&run.call(0, 2), None), vec![]).await.unwrap();
    drop(f.journal.hold(&run).await.unwrap());
    f.journal.append(&Lease { run_id: run.run_id.clone(), epoch: 2 }, vec![event("run.completed")]).await.unwrap();
    f.clock.pass(OPEN_FOR);
    run
}

pub(super) async fn export(journal: &dyn Journal, run: &RunId) -> String {
    let mut writer = Writer::default();
    let mut text = writer.begin();
    text.push_str(&writer.run(&journal.upkeep().export_run(run).await.unwrap()));
    text.push_str(&writer.end());
    text
}

fn read(text: &str) -> Vec<KeptRun> {
    let mut reader = Reader::default();
    let runs = text.lines().filter_map(|line| reader.line(line).unwrap()).collect();
    reader.finish().unwrap();
    runs
}

/// One of every kind, at the time of `f`.
fn every_kind(f: &Fixture) -> Vec<Fixture> {
    let all = vec![
        Fixture::memory(),
        Fixture::sqlite(),
        #[cfg(feature = "postgres")]
        Fixture::postgres(),
    ];
    for other in &all {
        other.clock.pass(f.clock.now().since(START));
    }
    all
}

async fn an_export_is_taken_by_every_kind_of_journal_and_comes_back_to_the_byte(f: Fixture) {
    let run = full(&f, "run-a").await;
    let text = export(&*f.journal, &run).await;
    // Each thing is there, on a line of its own.
    for part in ["data_text", "question_text", "\"record\":\"call\"", "art-0", "key \\u0000 of", "because\\u0000"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let everything = f.everything(&run).await;
    for other in every_kind(&f) {
        for kept in read(&text) {
            other.journal.upkeep().import_run(kept).await.unwrap();
        }
        assert_eq!(export(&*other.journal, &run).await, text);
        assert_eq!(other.everything(&run).await, everything);
    }
}

async fn the_corpus_goes_through(f: Fixture) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/journals/good");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let events: Vec<_> = text
            .lines()
            .filter(|line| !line.contains("run.result"))
            .map(|line| event_from_line(line).unwrap())
            .collect();
        let (first, last) = (events[0].clone(), events.last().unwrap().clone());
        let status = [
            ("run.completed", RunStatus::Completed),
            ("run.failed", RunStatus::Failed),
            ("run.limit_reached", RunStatus::LimitReached),
            ("run.waiting", RunStatus::WaitingForApproval),
            ("run.cancelled", RunStatus::Cancelled),
            ("run.needs_reconciliation", RunStatus::NeedsReconciliation),
        ];
        let status = events.iter().rev().find_map(|event| match event.kind.word() {
            "run.resumed" => Some(None),
            word => status.iter().find(|(known, _)| *known == word).map(|(_, status)| Some(*status)),
        });
        let kept = KeptRun {
            run_id: first.run_id.clone(),
            tenant: "tenant".to_owned(),
            kind: RunKind::Agent,
            title: String::new(),
            status: status.flatten(),
            epoch: 1 + events.iter().filter(|event| event.kind == EventType::RunLeaseTaken).count() as u64,
            created_at: first.at,
            updated_at: last.at,
            events,
            questions: Vec::new(),
            calls: Vec::new(),
            artifacts: Vec::new(),
            keys: Vec::new(),
        };
        let lines = Writer::default().run(&kept);
        match f.journal.upkeep().import_run(kept).await {
            // Several files have one run.
            Err(JournalError::Exists(_)) => continue,
            other => other.unwrap(),
        }
        let again = f.journal.upkeep().export_run(&first.run_id).await.unwrap();
        assert_eq!(Writer::default().run(&again), lines);
        count += 1;
    }
    assert!(count > 3, "{count}");
}

async fn an_imported_run_goes_on_where_it_was(f: Fixture) {
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    f.journal.append(&run, vec![event("run.waiting")]).await.unwrap();
    let kept = f.journal.upkeep().export_run(&run).await.unwrap();
    for other in every_kind(&f) {
        other.journal.upkeep().import_run(kept.clone()).await.unwrap();
        other.decide("apr-1", ApprovalState::Granted).await;
        let hold = other.journal.hold(&run).await.unwrap().unwrap();
        assert_eq!(hold.lease().epoch, 2);
        // Who drove it in the other journal is nobody here.
        let old = other.journal.append(&run, vec![event("x.a")]).await;
        assert_eq!(old.unwrap_err(), JournalError::Fenced { run: run.run_id.clone() });
        let call = run.call(0, 0);
        other.journal.claim(hold.lease(), claim(&call, 1, Some("apr-1")), vec![event("tool.started")]).await.unwrap();
        let numbers: Vec<u64> = other.events(&run).await.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    }
}

async fn a_run_that_is_there_is_not_imported(f: Fixture) {
    let run = full(&f, "run-a").await;
    let before = export(&*f.journal, &run).await;
    let kept = f.journal.upkeep().export_run(&run).await.unwrap();
    let told = f.journal.upkeep().import_run(kept.clone()).await.unwrap_err();
    assert_eq!(told, JournalError::Exists("run-a".to_owned()));
    // A question that is there belongs to another run: nothing of this one stays.
    let mut other = f.journal.upkeep().export_run(&f.create("run-b").await.run_id).await.unwrap();
    let text = kept.questions[0].question.text().replace("\"run_id\":\"run-a\"", "\"run_id\":\"run-c\"");
    other.questions.push(KeptQuestion { state: ApprovalState::Pending, ..kept.questions[0].clone() });
    other.questions[0].question = Document::parse(text, lockgate_contract::document::Limits::OWN).unwrap();
    other.run_id = RunId::new("run-c");
    other.events.iter_mut().for_each(|event| event.run_id = RunId::new("run-c"));
    let told = f.journal.upkeep().import_run(other).await.unwrap_err();
    assert_eq!(told, JournalError::Exists("apr-1-of-run-a".to_owned()));
    assert_eq!(f.journal.run(&RunId::new("run-c")).await.unwrap(), None);
    assert_eq!(export(&*f.journal, &run).await, before);
}

async fn a_run_that_does_not_hold_together_is_not_imported(f: Fixture) {
    let run = full(&f, "run-a").await;
    let kept = f.journal.upkeep().export_run(&run).await.unwrap();
    let target = f.fresh();
    let breaks: [fn(&mut KeptRun); 12] = [
        |run| run.events.clear(),
        |run| drop(run.events.remove(2)),
        |run| run.events.swap(1, 2),
        |run| run.events[1].run_id = RunId::new("run-b"),
        |run| run.status = Some(RunStatus::Failed),
        |run| run.calls.swap(0, 1),
        |run| run.questions.push(run.questions[0].clone()),
        |run| "other".clone_into(&mut run.tenant),
        |run| run.calls[0].approval_id = Some(ApprovalId::new("apr-none")),
        |run| run.epoch = u64::MAX,
        |run| "other".clone_into(&mut run.keys[0].tenant),
        // A yes that nobody said in an event.
        |run| {
            let question = &mut run.questions[0];
            (question.state, question.decided_by) = (ApprovalState::Granted, Some("mallory".to_owned()));
        },
    ];
    for (number, alter) in breaks.iter().enumerate() {
        let mut broken = kept.clone();
        alter(&mut broken);
        let told = target.journal.upkeep().import_run(broken).await.unwrap_err();
        assert!(matches!(told, JournalError::Corrupt(_)), "{number}: {told}");
        assert!(target.journal.runs(RunFilter::default()).await.unwrap().is_empty());
    }
    target.journal.upkeep().import_run(kept).await.unwrap();
}

async fn a_live_key_is_not_taken_by_an_import(f: Fixture) {
    let run = f.create("run-a").await;
    let mut first = claim(&run.call(0, 0), 1, None);
    first.caller_key = Some(caller_key("key", "request"));
    f.journal.claim(&run, first.clone(), vec![event("tool.started")]).await.unwrap();
    let kept = f.journal.upkeep().export_run(&run).await.unwrap();

    let target = f.fresh();
    let other = target.create("run-b").await;
    let mut taken = claim(&other.call(0, 0), 1, None);
    taken.caller_key = Some(caller_key("key", "other request"));
    target.journal.claim(&other, taken, vec![event("tool.started")]).await.unwrap();
    let told = target.journal.upkeep().import_run(kept.clone()).await.unwrap_err();
    assert_eq!(told, JournalError::Exists("key".to_owned()));
    assert_eq!(target.journal.run(&run).await.unwrap(), None);
    // One that has run out is in nobody's way.
    target.clock.pass(OPEN_FOR);
    target.journal.upkeep().import_run(kept.clone()).await.unwrap();
    assert_eq!(target.journal.upkeep().export_run(&run).await.unwrap().keys, kept.keys);

    // A live one comes along, and keeps meaning the same request.
    let target = f.fresh();
    target.journal.upkeep().import_run(kept).await.unwrap();
    let other = target.create("run-b").await;
    let mut taken = claim(&other.call(0, 0), 1, None);
    taken.caller_key = Some(caller_key("key", "request"));
    let told = target.journal.claim(&other, taken, vec![event("tool.started")]).await.unwrap_err();
    assert!(matches!(told, ClaimRefused::KeyTaken(holder) if holder.run_id == run.run_id));
}

async fn a_driven_run_is_exported_as_of_one_moment(f: Fixture) {
    let run = f.create("run-a").await;
    let (journal, driver) = (f.journal.clone(), run.clone());
    let writing = tokio::spawn(async move {
        for number in 0..60 {
            let call = driver.call(0, number);
            let right = claim(&call, 1, None);
            journal.claim(&driver, right, vec![event("tool.started")]).await.unwrap();
            let kept = Settling {
                call_id: call,
                attempt: 1,
                late: false,
                artifact: Some(artifact(&format!("art-{number}"), "x")),
            };
            journal.settle(&driver, kept, vec![event("tool.finished"), event("x.next")]).await.unwrap();
        }
    });
    while !writing.is_finished() {
        let kept = f.journal.upkeep().export_run(&run).await.unwrap();
        let settled = kept.calls.iter().filter(|call| call.state == CallState::Settled).count();
        assert_eq!(kept.artifacts.len(), settled);
        assert_eq!(kept.events.len(), 1 + kept.calls.len() + 2 * settled);
        tokio::task::yield_now().await;
    }
    writing.await.unwrap();
}

async fn a_run_that_is_not_chained_has_no_hashes(f: Fixture) {
    let run = full(&f, "run-a").await;
    assert!(f.events(&run).await.iter().all(|event| event.hash.is_none()));
    assert_eq!(f.journal.run(&run).await.unwrap().unwrap().head, None);
    assert!(!export(&*f.journal, &run).await.contains("\"hash\""));
}

async fn the_events_of_a_chained_run_are_tied_to_each_other(f: Fixture) {
    let new = NewRun { chained: true, ..new_run("run-a") };
    let (hold, mut appended) = f.journal.create_run(new).await.unwrap();
    let run = hold.lease().clone();
    drop(hold);
    let written = event_with("x.a", "{ \"of\" :\n 1.0 }");
    appended.extend(f.journal.append(&run, vec![written, event("x.b")]).await.unwrap());
    appended.extend(f.journal.ask(&run, approval(&run, "apr-1"), vec![event("approval.requested")]).await.unwrap());
    // Another process decides, and another one goes on.
    f.decide("apr-1", ApprovalState::Granted).await;
    let hold = f.journal.hold(&run).await.unwrap().unwrap();
    let call = run.call(0, 0);
    let events = vec![event("approval.consumed"), event("tool.started")];
    f.journal.claim(hold.lease(), claim(&call, 1, Some("apr-1")), events).await.unwrap();
    drop(hold);
    // Whoever was overtaken may still say how its attempt ended.
    let late = Settling { call_id: call.clone(), attempt: 1, late: false, artifact: None };
    f.journal.settle(&run, late, vec![settled(&call, EffectState::Done)]).await.unwrap();

    let events = f.events(&run).await;
    assert_eq!(events.len(), 9);
    let mut chain = Chain::begin(&run);
    for event in &events {
        let hash = chain.hash(event);
        assert_eq!(event.hash, Some(hash), "{event:?}");
        chain = Chain::behind(hash);
    }
    assert_eq!(f.journal.run(&run).await.unwrap().unwrap().head, Some(chain.head()));
    assert_eq!(format!("{appended:?}"), format!("{:?}", &events[..appended.len()]));

    let text = export(&*f.journal, &run).await;
    for other in every_kind(&f) {
        other.journal.upkeep().import_run(read(&text).remove(0)).await.unwrap();
        assert_eq!(export(&*other.journal, &run).await, text);
        // It stays a chain in the other journal.
        let hold = other.journal.hold(&run).await.unwrap().unwrap();
        let more = other.journal.append(hold.lease(), vec![event("x.c")]).await.unwrap();
        let taken = &other.journal.events(&run, 9).await.unwrap()[0];
        assert_eq!(taken.hash, Some(chain.hash(taken)));
        assert_eq!(more[0].hash, Some(Chain::behind(taken.hash.unwrap()).hash(&more[0])));
    }
    // One event that is not the one that was tied is not taken.
    let mut altered = read(&text).remove(0);
    altered.events[1] = event_from_line(&event_line(&altered.events[1]).replace("1.0", "2.0")).unwrap();
    let told = f.fresh().journal.upkeep().import_run(altered).await.unwrap_err();
    assert!(told.to_string().contains("has an event 2 that is not tied"), "{told}");
}

#[test]
fn a_line_that_is_altered_lost_or_cut_off_is_noticed() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let f = Fixture::memory();
        let run = full(&f, "run-a").await;
        let text = export(&*f.journal, &run).await;
        let lines: Vec<&str> = text.lines().collect();
        let fails = |lines: &[String]| {
            let mut reader = Reader::default();
            for line in lines {
                if let Err(error) = reader.line(line) {
                    return Some(error.fault);
                }
            }
            reader.finish().err().map(|error| error.fault)
        };
        let whole: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(fails(&whole), None);
        for place in 0..whole.len() {
            let mut lost = whole.clone();
            lost.remove(place);
            assert!(fails(&lost).is_some(), "without line {place}");
            assert!(fails(&whole[..place]).is_some(), "cut before line {place}");
            let mut doubled = whole.clone();
            doubled.insert(place, whole[place].clone());
            assert!(fails(&doubled).is_some(), "line {place} twice");
            for at in 0..whole[place].len() {
                let mut bytes = whole[place].clone().into_bytes();
                bytes[at] ^= 1;
                let Ok(line) = String::from_utf8(bytes) else { continue };
                let mut altered = whole.clone();
                altered[place] = line;
                assert!(fails(&altered).is_some(), "byte {at} of line {place}");
            }
        }
        assert_eq!(fails(&whole[..3]), Some(ExportFault::CutOff));
        assert_eq!(fails(&[]), Some(ExportFault::NotAnExport));
        let newer = "{\"record\":\"export\",\"format\":2,\"more\":[]}".to_owned();
        assert_eq!(fails(&[newer]), Some(ExportFault::TooNew { found: 2, known: 1 }));
        let twice: Vec<String> = whole.iter().chain(&whole).cloned().collect();
        assert_eq!(fails(&twice), None);
    });
}

async fn the_decisions_of_a_signed_run_are_signed_wherever_they_are_kept(f: Fixture) {
    let key = Arc::new(SigningKey::from_bytes(&[3; 32]));
    let public = key.public();
    let journal = SigningJournal::new(Arc::clone(&f.journal), key);
    let (hold, mut appended) = journal.create_run(NewRun { chained: true, ..new_run("run-a") }).await.unwrap();
    let run = hold.lease().clone();
    appended.extend(journal.append(&run, vec![event_with("x.a", "{ \"of\" :\n 1.0 }")]).await.unwrap());
    let asked = vec![event_with("approval.requested", "{ \"why\" :\n \"é\" }")];
    appended.extend(journal.ask(&run, approval(&run, "apr-1"), asked).await.unwrap());
    journal.decide(decision("apr-1", ApprovalState::Granted)).await.unwrap();
    // What is decided too late is a decision as well.
    journal.decide(decision("apr-1", ApprovalState::Denied)).await.unwrap_err();
    let call = run.call(0, 0);
    let events = vec![event("approval.consumed"), event("tool.started")];
    journal.claim(&run, claim(&call, 1, Some("apr-1")), events).await.unwrap();
    journal.settle(&run, settling(&call, None), vec![settled(&call, EffectState::Done)]).await.unwrap();
    drop(hold);

    let kept = f.events(&run).await;
    let signed: Vec<(u64, Option<_>)> =
        kept.iter().filter(|event| event.is_decision()).map(|event| (event.seq, public.verify(event).err())).collect();
    assert_eq!(signed, [1, 3, 4, 5, 6, 7].map(|seq| (seq, None)));
    assert!(kept.iter().all(|event| event.is_decision() == event.signature().is_some()));
    assert_eq!(format!("{appended:?}"), format!("{:?}", &kept[..appended.len()]), "what is answered is what is kept");

    let text = export(&*f.journal, &run).await;
    for other in every_kind(&f) {
        other.journal.upkeep().import_run(read(&text).remove(0)).await.unwrap();
        assert_eq!(export(&*other.journal, &run).await, text);
        for event in other.events(&run).await.iter().filter(|event| event.is_decision()) {
            assert_eq!(public.verify(event), Ok(()));
        }
        // Who goes on without the key leaves decisions that are not signed.
        let hold = other.journal.hold(&run).await.unwrap().unwrap();
        let more = other.journal.append(hold.lease(), vec![event("tool.relaxed")]).await.unwrap();
        assert_eq!(public.verify(&more[0]), Err(Unsound::Unsigned));
    }
}
