//! Hooks in front of a call: what they can stop, and that they can do nothing else (S-56, S-57, S-59, Z-47).
#![expect(clippy::disallowed_methods, reason = "programs read and write real files")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::effect::Effect;
use lockgate_contract::ports::{
    ApprovalFilter, BoxFuture, HookAnswer, HookedCall, Journal as _, PolicyDecision, VetoHook,
};
use lockgate_executor::{Gate, GateError, Released, Scope, ToolNames, Veto};
use lockgate_policy::ProgramHook;
use tokio::sync::Notify;

use crate::bench::{
    Answer, Bench, CANARY, EFFECTS, ManualClock, Method, START, Setup, answering, code, count, reached, settlement,
    tool, with_handler, word,
};

/// A hook that answers what the test says, and counts the questions.
struct Scripted {
    answer: Says,
    asked: Arc<AtomicUsize>,
}

#[derive(Debug, Clone)]
enum Says {
    Pass,
    Veto(String),
    Error(String),
    Panic(String),
    PanicLater(String),
    Never,
}

impl VetoHook for Scripted {
    fn before<'a>(&'a self, _call: HookedCall<'a>) -> BoxFuture<'a, Result<HookAnswer, String>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        match self.answer.clone() {
            Says::Pass => Box::pin(std::future::ready(Ok(HookAnswer::Pass))),
            Says::Veto(why) => Box::pin(std::future::ready(Ok(HookAnswer::Veto(why)))),
            Says::Error(why) => Box::pin(std::future::ready(Err(why))),
            Says::Panic(why) => panic!("{why}"),
            Says::PanicLater(why) => Box::pin(async move { panic!("{why}") }),
            Says::Never => Box::pin(std::future::pending()),
        }
    }
}

fn scripted(name: &str, answer: Says) -> (Veto, Arc<AtomicUsize>) {
    let asked = Arc::default();
    (Veto::new(name, Arc::new(Scripted { answer, asked: Arc::clone(&asked) })), asked)
}

fn program(name: &str, command: &[&str]) -> Veto {
    let command = command.iter().map(|word| (*word).to_owned()).collect();
    let redactor = Setup::new(|_| Vec::new()).scrubbing().redactor;
    Veto::new(name, Arc::new(ProgramHook::new(command, Vec::new(), redactor))).within(Duration::from_secs(20))
}

fn script(name: &str, script: &str) -> Veto {
    program(name, &["/bin/sh", "-c", script])
}

async fn bench(policy: Answer, vetoes: Vec<Veto>) -> Bench {
    let mut setup = Setup::new(|counters| answering(counters, "1")).policy(policy).scrubbing();
    setup.vetoes = vetoes;
    setup.build().await
}

/// What the audit of a blocked call says.
fn why(released: Released) -> String {
    let settlement = settlement(released);
    assert_eq!(code(&settlement), "policy_denied");
    let error = settlement.result().error.clone().unwrap();
    assert_eq!((error.reason.as_deref(), &*error.message), (Some("hook"), "This call is not permitted.")); // Z-08
    let audit = &settlement.settled().audit;
    assert_eq!((audit.decision.as_deref(), audit.policies.last().unwrap().as_str()), (Some("deny"), "hook:guard"));
    audit.text.clone().unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn only_a_hook_that_lets_pass_lets_pass() {
    let text = |text: &str| text.to_owned();
    let blocked: Vec<(Veto, &str)> = vec![
        (scripted("guard", Says::Veto(text("not on Fridays"))).0, "hook `guard` blocks the call: not on Fridays"),
        (scripted("guard", Says::Error(text("no database"))).0, "hook `guard` failed: no database"),
        (scripted("guard", Says::Panic(text("it broke"))).0, "hook `guard` panicked: it broke"),
        (scripted("guard", Says::PanicLater(text("it broke later"))).0, "hook `guard` panicked: it broke later"),
        (scripted("guard", Says::Never).0.within(Duration::from_millis(20)), "hook `guard` failed: no answer in time"),
        (script("guard", "echo no; exit 1"), "hook `guard` blocks the call: no (exit status: 1)"),
        (script("guard", "exit 77"), "hook `guard` blocks the call: (exit status: 77)"),
        (script("guard", "kill -9 $$"), "hook `guard` blocks the call: (signal: 9 (SIGKILL))"),
        (
            script("guard", "sleep 60 & wait").within(Duration::from_millis(50)),
            "hook `guard` failed: no answer in time",
        ),
        (
            program("guard", &["/no/such/program"]),
            "hook `guard` failed: its program cannot be started: No such file or directory (os error 2)",
        ),
        (program("guard", &[]), "hook `guard` failed: its program cannot be started: invalid input parameter"),
    ];
    for (veto, expected) in blocked {
        for effect in EFFECTS {
            for decision in [PolicyDecision::Allow, PolicyDecision::Ask] {
                let bench = bench(Answer::Is(decision), vec![veto.clone()]).await;
                let request = bench.request(effect.word(), "{}");
                assert_eq!(why(bench.send(&request).await), expected);
                assert_eq!(bench.handler_count(), 0, "{expected}"); // Z-47, S-57, R-162
                // Nobody is asked for a call that does not run, and no intent is written.
                assert_eq!(bench.journal.calls(Method::Ask) + bench.journal.calls(Method::Claim), 0, "{expected}");
                assert_eq!(bench.kinds().await, ["tool.requested", "tool.failed"]);
            }
        }
    }
    for veto in [scripted("guard", Says::Pass).0, script("guard", "cat > /dev/null"), script("guard", "exit 0")] {
        for effect in EFFECTS {
            let bench = bench(Answer::Is(PolicyDecision::Allow), vec![veto.clone()]).await;
            assert_eq!((code(&bench.call(effect.word()).await), bench.handler_count()), ("ok", 1));
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_that_a_hook_says_approves_allows_or_changes_anything() {
    let said =
        r#"cat | sed 's/"n":1/"n":2/'; echo '{"decision":"allow","approve":true,"arguments":{"n":2}}'; echo approve"#;
    for (policy, expected) in [
        (Answer::Is(PolicyDecision::Ask), "approval_required"), // R-173
        (Answer::Is(PolicyDecision::Deny), "policy_denied"),
        (Answer::Error, "policy_denied"),
    ] {
        let bench = bench(policy, vec![script("guard", said)]).await;
        for effect in EFFECTS {
            assert_eq!(word(&bench.send(&bench.request(effect.word(), "{}")).await), expected);
        }
        assert_eq!(bench.handler_count(), 0);
        let asked = bench.journal.inner().approvals(ApprovalFilter::default()).await.unwrap();
        assert!(asked.iter().all(|approval| approval.state == ApprovalState::Pending && approval.yeses.is_empty()));
    }
    let seen: Arc<Mutex<String>> = Arc::default();
    let noted = Arc::clone(&seen);
    let setup = Setup::new(|counters| {
        vec![with_handler(tool(counters, Effect::Write), counters, move |arguments, _| {
            arguments.text().clone_into(&mut noted.lock().unwrap());
            async { Ok(lockgate_contract::tool::Output::of(&1)) }
        })]
    });
    let bench = setup.veto(script("guard", said)).build().await;
    let released = settlement(bench.send(&bench.request("write", r#"{"n":1}"#)).await);
    assert_eq!((code(&released), seen.lock().unwrap().as_str()), ("ok", r#"{"n":1}"#)); // S-59
}

#[tokio::test]
async fn calls_that_were_refused_before_are_no_business_of_a_hook() {
    let (veto, asked) = scripted("guard", Says::Pass);
    let bench = bench(Answer::Is(PolicyDecision::Deny), vec![veto]).await;
    for (tool, arguments, expected) in [
        ("nothing", "{}", "unknown_tool"),
        ("write", "{", "invalid_arguments"),
        ("write", r#"{"n":"x"}"#, "invalid_arguments"),
        ("write", "{}", "policy_denied"),
    ] {
        let settlement = settlement(bench.send(&bench.request(tool, arguments)).await);
        assert_eq!(code(&settlement), expected);
        assert_ne!(settlement.result().error.as_ref().unwrap().reason.as_deref(), Some("hook"));
    }
    assert_eq!(count(&asked), 0);
}

#[tokio::test]
async fn they_are_asked_in_order_and_the_first_veto_ends_it() {
    let (first, asked_first) = scripted("first", Says::Pass);
    let (guard, asked_guard) = scripted("guard", Says::Veto("no".to_owned()));
    let (last, asked_last) = scripted("last", Says::Pass);
    let bench = bench(Answer::Native, vec![first, guard, last]).await;
    assert_eq!(why(bench.send(&bench.request("write", "{}")).await), "hook `guard` blocks the call: no"); // S-56
    assert_eq!([count(&asked_first), count(&asked_guard), count(&asked_last)], [1, 1, 0]);
}

#[tokio::test]
async fn a_hook_is_about_the_tools_that_it_names() {
    for (names, effects) in [
        (ToolNames::All, [true, true, true]),
        (ToolNames::Only(vec!["read".to_owned()]), [true, false, false]),
        (ToolNames::Only(vec!["w*".to_owned(), "*nal".to_owned()]), [false, true, true]),
        (ToolNames::Only(Vec::new()), [false; 3]),
    ] {
        let veto = scripted("guard", Says::Veto("no".to_owned())).0.of_tools(names.clone());
        let bench = bench(Answer::Native, vec![veto]).await;
        for (effect, is_blocked) in EFFECTS.into_iter().zip(effects) {
            let expected = if is_blocked { "policy_denied" } else { "ok" };
            assert_eq!(code(&bench.call(effect.word()).await), expected, "{names:?} {effect:?}");
        }
    }
}

/// Lets pass until it is told otherwise.
#[derive(Default)]
struct Turning {
    asked: AtomicUsize,
    blocks: AtomicUsize,
}

impl VetoHook for Turning {
    fn before<'a>(&'a self, _call: HookedCall<'a>) -> BoxFuture<'a, Result<HookAnswer, String>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let blocks = count(&self.blocks) > 0;
        let answer = if blocks { HookAnswer::Veto("too late".to_owned()) } else { HookAnswer::Pass };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

#[tokio::test]
async fn it_is_asked_again_after_the_yes_and_a_veto_leaves_the_yes_unused() {
    for effect in [Effect::Write, Effect::External] {
        for blocks in [false, true] {
            let hook = Arc::new(Turning::default());
            let veto = Veto::new("guard", Arc::clone(&hook) as Arc<dyn VetoHook>);
            let bench = bench(Answer::Is(PolicyDecision::Ask), vec![veto]).await;
            let request = bench.approved(effect.word()).await;
            assert_eq!(count(&hook.asked), 1);
            hook.blocks.store(usize::from(blocks), Ordering::SeqCst);
            let released = bench.send(&request).await;
            assert_eq!(count(&hook.asked), 2);
            let approval = bench.journal.inner().approvals(ApprovalFilter::default()).await.unwrap().remove(0);
            assert_eq!(
                (bench.handler_count(), approval.consumed_at.is_some()),
                if blocks { (0, false) } else { (1, true) }
            );
            if blocks {
                assert_eq!(why(released), "hook `guard` blocks the call: too late");
                // What nobody can use any more is taken back with the call's ending.
                assert_eq!(approval.state, ApprovalState::Withdrawn);
            } else {
                assert_eq!((word(&released).as_str(), approval.state), ("ok", ApprovalState::Consumed));
            }
        }
    }
}

/// Takes this long by the clock of the test.
struct Slow {
    clock: Arc<OnceLock<Arc<ManualClock>>>,
    takes: Duration,
}

impl VetoHook for Slow {
    fn before<'a>(&'a self, _call: HookedCall<'a>) -> BoxFuture<'a, Result<HookAnswer, String>> {
        self.clock.get().unwrap().pass(self.takes);
        Box::pin(std::future::ready(Ok(HookAnswer::Pass)))
    }
}

#[tokio::test]
async fn what_a_hook_takes_is_time_of_the_run() {
    for (takes, expected) in [(2, "ok"), (3, "limit_reached")] {
        for (policy, expected) in [
            (PolicyDecision::Allow, expected),
            (PolicyDecision::Ask, if expected == "ok" { "approval_required" } else { expected }),
        ] {
            let clock = Arc::<OnceLock<Arc<ManualClock>>>::default();
            let hook = Slow { clock: Arc::clone(&clock), takes: Duration::from_secs(takes) };
            let mut bench = bench(Answer::Is(policy), vec![Veto::new("guard", Arc::new(hook))]).await;
            assert!(clock.set(Arc::clone(&bench.clock)).is_ok());
            bench.scope.deadline = Some(START.after(Duration::from_secs(3)));
            assert_eq!(word(&bench.send(&bench.request("write", "{}")).await), expected, "{takes}");
            assert_eq!(bench.handler_count(), usize::from(expected == "ok"));
            // Nobody is asked for a run whose time is up, and no intent is written.
            let begun = usize::from(expected != "limit_reached");
            assert_eq!(bench.journal.calls(Method::Ask) + bench.journal.calls(Method::Claim), begun, "{takes}");
        }
    }
}

/// Says that it was asked, and never answers.
struct Waits(Arc<Notify>);

impl VetoHook for Waits {
    fn before<'a>(&'a self, _call: HookedCall<'a>) -> BoxFuture<'a, Result<HookAnswer, String>> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_cancel_ends_the_wait_and_nothing_runs() {
    let entered = Arc::new(Notify::new());
    let bench = bench(Answer::Native, vec![Veto::new("guard", Arc::new(Waits(Arc::clone(&entered))))]).await;
    let request = bench.request("write", "{}");
    let cancel = async {
        reached(&entered).await;
        bench.scope.cancel.cancel();
    };
    let (released, ()) = tokio::join!(bench.send(&request), cancel);
    assert!(matches!(released, Released::Cancelled { started: false }), "{released:?}"); // R-101
    assert_eq!((bench.handler_count(), bench.journal.calls(Method::Claim)), (0, 0));
}

/// Sends a call of its own through the gate that asks it.
#[derive(Default)]
struct Recursive {
    gate: OnceLock<(Gate, Scope, lockgate_executor::Request)>,
    inner: Mutex<Vec<String>>,
}

impl VetoHook for Recursive {
    fn before<'a>(&'a self, _call: HookedCall<'a>) -> BoxFuture<'a, Result<HookAnswer, String>> {
        Box::pin(async {
            let (gate, scope, request) = self.gate.get().unwrap();
            let released = Box::pin(gate.call(request.clone(), scope)).await;
            self.inner.lock().unwrap().push(why(released));
            Ok(HookAnswer::Pass)
        })
    }
}

#[tokio::test]
async fn a_hook_is_not_asked_about_its_own_calls() {
    let hook = Arc::new(Recursive::default());
    let bench = bench(Answer::Native, vec![Veto::new("guard", Arc::clone(&hook) as Arc<dyn VetoHook>)]).await;
    let own = bench.request("read", "{}");
    assert!(hook.gate.set((bench.gate.clone(), bench.scope.clone(), own)).is_ok());
    assert_eq!(word(&bench.send(&bench.request("write", "{}")).await), "ok");
    // S-59
    assert_eq!(*hook.inner.lock().unwrap(), ["hook `guard` is not asked about calls that a hook sends itself"]);
    assert_eq!(bench.handler_count(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn no_secret_gets_to_a_program_and_none_comes_from_one() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let written = serde_json::to_string(CANARY).unwrap();
    std::fs::write(folder.path().join("secret"), CANARY).unwrap();
    let keep = format!("cat > {}; env >> {0}", seen.display());
    let tell = format!("cat {}; printf %4000s x; exit 1", folder.path().join("secret").display());
    for (veto, arguments) in [
        (script("guard", &keep), format!(r#"{{"text":{written}}}"#)),
        (script("guard", &tell), "{}".to_owned()),
        (scripted("guard", Says::Veto(CANARY.to_owned())).0, "{}".to_owned()),
        (scripted("guard", Says::Error(CANARY.to_owned())).0, "{}".to_owned()),
        (scripted("guard", Says::Panic(CANARY.to_owned())).0, "{}".to_owned()),
    ] {
        let bench = bench(Answer::Native, vec![veto]).await;
        let settlement = settlement(bench.send(&bench.request("write", &arguments)).await);
        let everything = format!("{:?} {:?} {}", settlement.result(), settlement.settled(), bench.stored_text().await);
        assert!(!everything.contains(CANARY) && !everything.contains("Yellow"), "{everything}"); // Z-47, R-178
        assert!(settlement.settled().audit.text.as_ref().is_none_or(|text| text.len() < 2100));
    }
    let seen = std::fs::read_to_string(&seen).unwrap();
    assert!(seen.contains("\"name\":\"write\"") && seen.contains("[redacted:"), "{seen}");
    assert!(!seen.contains("Yellow") && !seen.contains("PATH=/") && seen.contains("LOCKGATE_HOOK_DEPTH=1"), "{seen}");
}

#[cfg(unix)]
#[tokio::test]
async fn what_a_program_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let bench = bench(Answer::Native, vec![script("guard", &format!("cat > {}", seen.display()))]).await;
    let request = bench.request("write", r#"{"n": 9007199254740993}"#);
    bench.send(&request).await;
    let told: serde_json::Value = serde_json::from_slice(&std::fs::read(&seen).unwrap()).unwrap();
    assert_eq!((&told["v"], &told["type"], &told["step"]), (&1.into(), &"call.before".into(), &0.into()));
    assert_eq!(
        (&told["run_id"], &told["call_id"]),
        (&"run-0123456789ab".into(), &request.call.call_id.as_str().into())
    );
    assert_eq!((&told["tool"]["name"], &told["tool"]["version"]), (&"write".into(), &"2.5".into()));
    assert_eq!((&told["tool"]["effect"], &told["subject"]["user"]), (&"write".into(), &"local".into()));
    assert!(std::fs::read_to_string(&seen).unwrap().contains(r#""arguments":{"n": 9007199254740993}"#));
    assert_eq!((&told["arguments_scrubbed"], &told["timeout_ms"]), (&false.into(), &20_000.into()));
    // It sees that what would run is something else than what it reads.
    let secret = serde_json::json!({ "text": CANARY });
    bench.send(&bench.request("write", &secret.to_string())).await;
    let told: serde_json::Value = serde_json::from_slice(&std::fs::read(&seen).unwrap()).unwrap();
    assert_eq!(told["arguments_scrubbed"], true);
    assert_ne!(told["arguments"], secret);
}

#[test]
fn names_that_audits_could_not_use() {
    let build = |names: &[&str]| {
        let registry = Arc::new(lockgate_registry::Registry::default());
        let clock = Arc::new(Still);
        let journal = Arc::new(lockgate_journal::MemoryJournal::new(clock.clone()));
        let policy = Arc::new(lockgate_policy::NativePolicy::new());
        let redactor = Arc::new(lockgate_contract::ports::NoRedaction);
        let builder = Gate::builder(registry, policy, journal, redactor, clock);
        names.iter().fold(builder, |builder, name| builder.veto(scripted(name, Says::Pass).0)).build().map(drop)
    };
    assert_eq!(build(&["a", "b-2", "c.d_e"]), Ok(()));
    for name in ["", "two words", "hook:x", "new\nline", "ä"] {
        assert_eq!(build(&[name]), Err(GateError::HookName(name.to_owned())));
    }
    assert_eq!(build(&["a", "b", "a"]), Err(GateError::HookTwice("a".to_owned())));
}

/// A clock that nobody looks at.
struct Still;

impl lockgate_contract::ports::Clock for Still {
    fn now(&self) -> lockgate_contract::time::Timestamp {
        crate::bench::START
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}
