//! Several people are asked, somebody writes other arguments, and questions run out: what runs is what enough people said yes to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::approval::{Approval, ApprovalState, NotEntitled, Proof};
use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::event::Body;
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::outcome::Code;
use lockgate_contract::ports::{
    Approvers, BoxFuture, Decision, DecisionRefused, Obligations, PolicyDecision, PolicyEngine, PolicyRequest,
    PolicyVerdict,
};
use lockgate_contract::run::RunStatus;
use lockgate_contract::subject::Subject;
use lockgate_executor::GateOptions;
use lockgate_harness::{DirectCall, RunResult, RunState, check};
use lockgate_journal::{MemoryJournal, SqliteJournal};
use lockgate_redact::{ScrubberBuilder, SecretValue};

use crate::bench::{Bench, OPEN_FOR, codes, stop};
use crate::journals::{Fault, Faulty};
use crate::model::{calls, says};

const OK: &str = r#"{"do":"ok","n":1}"#;
const EDIT: &str = r#"{"do": "ok", "n": 2}"#;

/// Asks what the tools ask, with these obligations, which a test may change.
pub(crate) struct Scripted(pub(crate) Mutex<Obligations>);

impl Scripted {
    pub(crate) fn new(obligations: Obligations) -> Arc<Self> {
        Arc::new(Self(Mutex::new(obligations)))
    }
}

impl PolicyEngine for Scripted {
    fn decide<'a>(&'a self, request: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        let decision = match request.permission {
            Permission::Allow => PolicyDecision::Allow,
            Permission::Ask => PolicyDecision::Ask,
            Permission::Deny => PolicyDecision::Deny,
        };
        let obligations =
            if decision == PolicyDecision::Ask { self.0.lock().unwrap().clone() } else { Obligations::default() };
        let policies = vec!["scripted:money".to_owned()];
        let verdict = PolicyVerdict { obligations, ..PolicyVerdict::new(decision, policies, "it says so") };
        Box::pin(async move { Ok(verdict) })
    }
}

pub(crate) fn finance(count: u32) -> Approvers {
    Approvers { roles: vec!["finance".to_owned()], count }
}

fn money(count: u32) -> Obligations {
    Obligations { approvers: Some(finance(count)), because: Some("more than 100".to_owned()), ..Obligations::default() }
}

/// What somebody of finance says.
pub(crate) fn says_of(approval: &ApprovalId, answer: ApprovalState, by: &str) -> Decision {
    Decision {
        roles: vec!["finance".to_owned()],
        proof: Proof::Authenticated,
        ..Decision::new(approval.clone(), answer, by)
    }
}

fn yes(approval: &Approval, by: &str) -> Decision {
    says_of(&approval.approval_id, ApprovalState::Granted, by)
}

pub(crate) fn arguments(text: &str) -> Arguments {
    Arguments::parse(text, Limits::ARGUMENTS).unwrap()
}

fn bench(obligations: Obligations) -> (Bench, Arc<Scripted>) {
    let mut bench = Bench::new([calls(&[("pay", OK)]), says("Done.")]);
    let policy = Scripted::new(obligations);
    bench.policy = policy.clone();
    (bench, policy)
}

async fn waiting(bench: &Bench) -> (RunId, Approval) {
    let run = bench.run().await.run_id().clone();
    let asked = open(bench, &run).await;
    (run, asked)
}

async fn open(bench: &Bench, run: &RunId) -> Approval {
    let pending = |approval: &Approval| approval.state == ApprovalState::Pending;
    bench.approvals(run).await.into_iter().find(pending).unwrap()
}

async fn decide(bench: &Bench, decision: Decision) -> Result<Approval, DecisionRefused> {
    bench.runner().gate().decide(decision).await
}

/// Resumes; whatever happened, the events hold together.
async fn resumed(bench: &Bench, run: &RunId) -> RunState {
    let state = bench.resume(run).await;
    assert_eq!(check::events(&bench.events(run).await), []);
    state
}

#[tokio::test(start_paused = true)]
async fn a_call_runs_once_enough_people_said_yes() {
    let (bench, _) = bench(money(2));
    let (run, asked) = waiting(&bench).await;
    assert_eq!((&asked.approvers, asked.because.as_deref()), (&Some(finance(2)), Some("more than 100"))); // R-167
    decide(&bench, yes(&asked, "bob")).await.unwrap();
    let state = resumed(&bench, &run).await;
    assert_eq!((stop(&state).0, bench.world.entries().len()), (RunStatus::WaitingForApproval, 0)); // R-173
    let refused = decide(&bench, yes(&asked, &asked.user)).await.unwrap_err();
    assert!(matches!(refused, DecisionRefused::NotEntitled { why: NotEntitled::Subject, .. }), "{refused:?}");
    decide(&bench, yes(&asked, "carol")).await.unwrap();
    let state = resumed(&bench, &run).await;
    assert_eq!((codes(&state), bench.world.entered()), (vec!["ok".to_owned()], vec!["pay"]));
}

#[tokio::test(start_paused = true)]
async fn the_gates_own_approvers_stand_in_where_the_policy_names_none() {
    let (mut bench, _) = bench(Obligations::default());
    bench.options.approvers = Some(finance(1));
    let (run, asked) = waiting(&bench).await;
    assert_eq!(asked.approvers, Some(finance(1)));
    bench.decide(&asked.approval_id, ApprovalState::Granted).await.unwrap_err();
    assert_eq!(stop(&resumed(&bench, &run).await).0, RunStatus::WaitingForApproval);
    decide(&bench, yes(&asked, "bob")).await.unwrap();
    assert_eq!(codes(&resumed(&bench, &run).await), ["ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_wants_more_by_now_is_not_satisfied_by_less() {
    let (bench, policy) = bench(money(1));
    let (run, asked) = waiting(&bench).await;
    decide(&bench, yes(&asked, "bob")).await.unwrap();
    *policy.0.lock().unwrap() = money(2);
    let state = resumed(&bench, &run).await;
    assert_eq!((codes(&state), bench.world.entries().len()), (vec!["approval_stale".to_owned()], 0)); // S-39
}

#[tokio::test(start_paused = true)]
async fn a_question_stays_open_as_long_as_the_policy_says_and_never_longer_than_its_effect_may() {
    let expires_in = |obligation: u64, most: Option<u64>| async move {
        let minutes = Duration::from_mins;
        let (mut bench, _) = bench(Obligations { expires_in: Some(minutes(obligation)), ..Obligations::default() });
        bench.options.approval_max_expires = most.map(|most| (Effect::External, minutes(most))).into_iter().collect();
        let (_, asked) = waiting(&bench).await;
        asked.expires_at.since(asked.requested_at)
    };
    assert_eq!(expires_in(90, None).await, Duration::from_mins(90));
    assert_eq!(expires_in(90, Some(30)).await, Duration::from_mins(30));
    assert_eq!(expires_in(5, Some(30)).await, Duration::from_mins(5));
}

#[tokio::test(start_paused = true)]
async fn what_somebody_wrote_in_place_of_it_is_what_runs() {
    let (bench, _) = bench(money(1));
    let (run, asked) = waiting(&bench).await;
    let standing = decide(&bench, Decision { edit: Some(arguments(EDIT)), ..yes(&asked, "bob") }).await.unwrap();
    assert_ne!(standing.approval_id, asked.approval_id);
    let state = resumed(&bench, &run).await;
    assert_eq!(codes(&state), ["ok"]);
    let entries = bench.world.entries();
    assert_eq!(entries.iter().map(|entry| entry.arguments.as_str()).collect::<Vec<_>>(), [EDIT]);
    // The model is told; what it said stays what it said.
    let told = bench.model.told().remove(0);
    assert!(told.contains(r#""arguments_edited":true"#), "{told}");
    let history = format!("{:?}", bench.model.history());
    assert!(history.contains(r#"\"n\":1"#) && !history.contains(r#"\"n\": 2"#), "{history}");
    assert_eq!(state.calls().next().unwrap().call_id, asked.call_id); // R-172
    assert_eq!(RunResult::of(&state).calls.len(), 1);
    let states: Vec<_> = bench.approvals(&run).await.into_iter().map(|approval| approval.state).collect();
    assert_eq!(states, [ApprovalState::Withdrawn, ApprovalState::Consumed]);
}

#[tokio::test(start_paused = true)]
async fn an_edit_needs_the_other_yeses_as_well() {
    let (bench, _) = bench(money(2));
    let (run, asked) = waiting(&bench).await;
    decide(&bench, yes(&asked, "bob")).await.unwrap();
    let standing = decide(&bench, Decision { edit: Some(arguments(EDIT)), ..yes(&asked, "carol") }).await.unwrap();
    let state = resumed(&bench, &run).await;
    assert_eq!((stop(&state).0, bench.world.entries().len()), (RunStatus::WaitingForApproval, 0)); // R-173
    // Bob said yes to something else.
    decide(&bench, yes(&standing, "bob")).await.unwrap();
    assert_eq!(codes(&resumed(&bench, &run).await), ["ok"]);
    assert_eq!(bench.world.entries()[0].arguments, EDIT);
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_is_denied_or_too_late_runs_in_neither_version() {
    for (answer, code) in [
        (Some(ApprovalState::Denied), "approval_denied"),
        (Some(ApprovalState::Withdrawn), "approval_withdrawn"),
        (None, "approval_expired"),
    ] {
        let (bench, _) = bench(money(2));
        let (run, asked) = waiting(&bench).await;
        let edit = Decision { edit: Some(arguments(EDIT)), ..yes(&asked, "bob") };
        let standing = decide(&bench, edit).await.unwrap();
        match answer {
            Some(answer) => drop(decide(&bench, says_of(&standing.approval_id, answer, "carol")).await.unwrap()),
            None => bench.clock.pass(OPEN_FOR),
        }
        let state = resumed(&bench, &run).await;
        assert_eq!((codes(&state), bench.world.entries().len()), (vec![code.to_owned()], 0)); // R-173
    }
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_checked_when_it_is_made_and_again_when_it_runs() {
    let (mut bench, _) = bench(money(1));
    let mut secrets = ScrubberBuilder::new();
    secrets.secret("S", SecretValue::new("hunter22-hunter22".to_owned())).unwrap();
    bench.redactor = Arc::new(secrets.build().unwrap());
    let (run, asked) = waiting(&bench).await;
    let before = bench.bytes(&run).await;
    for (edit, why) in [
        (r#"{"n":1}"#, "do"),
        (r#"{"do":"ok","more":1}"#, "more"),
        (r#"{"do":"ok","key":"hunter22-hunter22"}"#, "secret"),
    ] {
        let told = decide(&bench, Decision { edit: Some(arguments(edit)), ..yes(&asked, "bob") }).await.unwrap_err();
        assert!(matches!(&told, DecisionRefused::Edit { detail, .. } if detail.contains(why)), "{told:?}");
    }
    assert_eq!(bench.bytes(&run).await, before);
    // Somebody who does not go through the gate is found out by it.
    let invalid = Decision { edit: Some(arguments(r#"{"n":1}"#)), ..yes(&asked, "bob") };
    bench.journal.decide(invalid).await.unwrap();
    let state = resumed(&bench, &run).await;
    assert_eq!((codes(&state), bench.world.entries().len()), (vec!["invalid_arguments".to_owned()], 0)); // R-226
}

#[tokio::test(start_paused = true)]
async fn a_policy_decides_about_the_edit_too() {
    struct Deny;
    impl PolicyEngine for Deny {
        fn decide<'a>(&'a self, _: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
            Box::pin(async { Ok(PolicyVerdict::new(PolicyDecision::Deny, Vec::new(), "no more")) })
        }
    }
    let (mut bench, _) = bench(money(1));
    let (run, asked) = waiting(&bench).await;
    decide(&bench, Decision { edit: Some(arguments(EDIT)), ..yes(&asked, "bob") }).await.unwrap();
    bench.policy = Arc::new(Deny);
    let state = resumed(&bench, &run).await;
    assert_eq!((codes(&state), bench.world.entries().len()), (vec!["policy_denied".to_owned()], 0));
}

#[tokio::test(start_paused = true)]
async fn a_crash_while_somebody_edits_leaves_one_question_or_the_other() {
    for happened in [false, true] {
        let (mut bench, _) = bench(money(1));
        let (run, asked) = waiting(&bench).await;
        let disk = Arc::clone(&bench.journal);
        bench.journal = Faulty::new(&disk, Fault::DiesDeciding(happened));
        let edit = Decision { edit: Some(arguments(EDIT)), ..yes(&asked, "bob") };
        tokio::time::timeout(Duration::from_secs(1), decide(&bench, edit)).await.unwrap_err();
        let bench = bench.restarted(disk);
        let mut live = bench.approvals(&run).await;
        live.retain(|question| matches!(question.state, ApprovalState::Pending | ApprovalState::Granted));
        let [question] = &live[..] else { panic!("{live:?}") };
        assert_eq!(question.approval_id != asked.approval_id, happened);
        if !happened {
            decide(&bench, yes(&asked, "bob")).await.unwrap();
        }
        assert_eq!(codes(&resumed(&bench, &run).await), ["ok"]);
        let entries = bench.world.entries();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].arguments, if happened { EDIT } else { OK });
    }
}

#[tokio::test]
async fn an_edit_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut bench = Bench::in_file(&path, [calls(&[("pay", OK)]), says("Done.")]);
    bench.policy = Scripted::new(money(1));
    let (run, asked) = waiting(&bench).await;
    decide(&bench, Decision { edit: Some(arguments(EDIT)), ..yes(&asked, "bob") }).await.unwrap();
    let clock = bench.clock.clone();
    let bench = bench.restarted(Arc::new(MemoryJournal::new(clock.clone())));
    let bench = bench.restarted(Arc::new(SqliteJournal::open(&path, clock).unwrap()));
    assert_eq!(codes(&resumed(&bench, &run).await), ["ok"]);
    assert_eq!(bench.world.entries()[0].arguments, EDIT);
}

#[tokio::test(start_paused = true)]
async fn a_direct_call_goes_on_with_what_was_written_in_its_place_and_with_nothing_else() {
    let (bench, _) = bench(money(1));
    let runner = bench.runner();
    let call = |text: &str| DirectCall::new(Subject::default(), bench.binding(), "pay", text);
    let first = runner.call(call(OK)).await.unwrap();
    let asked = bench.approvals(&first.run_id).await.remove(0);
    let standing = decide(&bench, Decision { edit: Some(arguments(EDIT)), ..yes(&asked, "bob") }).await.unwrap();
    let again = |text: &str, approval: &Approval| {
        runner.call(DirectCall { approval: Some(approval.approval_id.clone()), ..call(text) })
    };
    for (text, approval) in [(OK, &asked), (EDIT, &asked), (OK, &standing)] {
        let answer = again(text, approval).await.unwrap();
        let code = answer.result.error.as_ref().map(|error| error.code.clone()).unwrap();
        assert!(code.is(Code::ApprovalStale), "{text}: {code:?}"); // R-168
        assert_eq!((answer.status, bench.world.entries().len()), (None, 0));
    }
    let answer = again(EDIT, &standing).await.unwrap();
    assert!(answer.result.ok && answer.result.meta.arguments_edited, "{answer:?}");
    assert_eq!(check::events(&bench.events(&first.run_id).await), []);
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_beyond_the_budget() {
    let mut bench = Bench::new([calls(&[("pay", OK), ("pay", EDIT), ("ask", OK)]), says("Done.")])
        .within(|budget| budget.max_questions = Some(1));
    bench.parallel_reads = 4;
    let run = bench.run().await.run_id().clone();
    assert_eq!(bench.approvals(&run).await.len(), 1);
    bench.decide_all(&run, ApprovalState::Granted).await;
    let state = resumed(&bench, &run).await;
    assert_eq!(codes(&state), ["ok", "limit_reached", "limit_reached"]);
    assert!(bench.model.told()[1].contains(r#""reason":"questions""#), "{:?}", bench.model.told());
    assert_eq!(bench.world.entered(), ["pay"]);
    assert_eq!(stop(&state).0, RunStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn why_somebody_said_no_is_told_only_where_that_is_wanted() {
    for tell_reasons in [false, true] {
        for answer in [ApprovalState::Denied, ApprovalState::Withdrawn] {
            let (mut bench, _) = bench(Obligations::default());
            bench.options = GateOptions { tell_reasons, ..bench.options };
            let (run, asked) = waiting(&bench).await;
            let reason = Some("the invoice is paid".to_owned());
            let no = Decision { reason, ..Decision::new(asked.approval_id, answer, "bob") };
            decide(&bench, no).await.unwrap();
            resumed(&bench, &run).await;
            assert_eq!(bench.model.told()[0].contains("the invoice is paid"), tell_reasons, "{:?}", bench.model.told());
        }
    }
}

/// Which invariant somebody breaks, and how.
type Change = (&'static str, &'static dyn Fn(&mut Body));

#[tokio::test(start_paused = true)]
async fn what_is_altered_in_the_events_is_found() {
    let (bench, _) = bench(money(2));
    let (run, asked) = waiting(&bench).await;
    decide(&bench, yes(&asked, "bob")).await.unwrap();
    let standing = decide(&bench, Decision { edit: Some(arguments(EDIT)), ..yes(&asked, "carol") }).await.unwrap();
    decide(&bench, yes(&standing, "dora")).await.unwrap();
    resumed(&bench, &run).await;
    let events = bench.events(&run).await;
    let altered = |change: &dyn Fn(&mut Body)| {
        let mut altered = events.clone();
        for event in &mut altered {
            let mut body = event.body().unwrap();
            change(&mut body);
            event.data = body.into();
        }
        check::events(&altered).into_iter().map(|defect| defect.invariant.word()).collect::<Vec<_>>()
    };
    assert_eq!(altered(&|_| ()), Vec::<&str>::new());
    // One of two yeses, by somebody of another role, by the subject, twice by the same.
    let changes: [Change; 6] = [
        ("authorisation", &|body| {
            if let Body::ApprovalAgreed(agreed) = body {
                agreed.roles = vec!["sales".to_owned()];
            }
        }),
        ("authorisation", &|body| {
            if let Body::ApprovalDecided(decided) = body {
                "CAROL".clone_into(&mut decided.decided_by);
            }
        }),
        ("authorisation", &|body| {
            if let Body::ApprovalDecided(decided) = body {
                decided.decided_by = Subject::default().user;
            }
        }),
        ("approval_binding", &|body| {
            if let Body::ApprovalEdited(edited) = body {
                OK.clone_into(&mut edited.arguments_text);
            }
        }),
        ("approval_binding", &|body| {
            if let Body::ApprovalEdited(edited) = body {
                let other = arguments(r#"{"do":"ok","n":3}"#);
                other.text().clone_into(&mut edited.arguments_text);
                edited.arguments_digest = other.digest();
            }
        }),
        ("placement", &|body| {
            if let Body::ToolStarted(started) = body {
                started.arguments_digest = arguments(OK).digest();
            }
        }),
    ];
    for (number, (word, change)) in changes.iter().enumerate() {
        assert!(altered(*change).contains(word), "{number}: {:?}", altered(*change));
    }
    // The edit itself is gone: what started is not what was asked about.
    let kept: Vec<_> = events.iter().filter(|event| event.kind.word() != "approval.edited").cloned().collect();
    let words: Vec<_> = check::events(&kept).into_iter().map(|defect| defect.invariant.word()).collect();
    assert!(words.contains(&"placement") && words.contains(&"approval_order"), "{words:?}");
}
