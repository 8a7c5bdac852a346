//! What is looked at again before an approved call runs, and that it runs once.

use super::*;

/// No decision at all is no yes either, whatever the policy has become.
#[tokio::test]
async fn an_open_question_is_not_closed_by_a_laxer_policy() {
    for expired in [false, true] {
        for mut world in World::of_each_kind() {
            let (ran, question) = waiting(&world).await;
            world.policy = Arc::new(Always(PolicyDecision::Allow));
            if expired {
                world.clock.forward(Duration::from_secs(601));
            }
            let resumed = world.resume(ran.run_id()).await;
            assert_eq!(resumed.codes(), [if expired { "approval_expired" } else { "approval_required" }]);
            assert!(world.entered().is_empty());
            if !expired {
                // Answered, it runs under its own approval, which is used up.
                world.answer(&question, ApprovalState::Granted).await.unwrap();
                let resumed = world.restarted().resume(ran.run_id()).await;
                assert_eq!(resumed.codes(), ["ok"]);
                assert_eq!(resumed.events_of(&EventType::ApprovalConsumed).len(), 1);
            }
        }
    }
}

/// What happens between the grant and the resume, and how the call ends then.
type Between = fn(&mut World);

#[tokio::test]
async fn everything_is_looked_at_again_at_resume() {
    let rows: &[(&str, Between, &str)] = &[
        ("nothing", |_| {}, "ok"),
        ("the tool is taken away", |world| assert!(world.registry.revoke("transfer")), "unknown_tool"),
        (
            "its description changes",
            |world| {
                let changed = world.spec(transfer().description("now to anybody"), echo());
                world.registry.replace(changed, ReplacementRule::Stop).unwrap();
            },
            "definition_changed",
        ),
        (
            "its effect changes",
            |world| {
                let changed = world.spec(transfer().effect(Effect::External), echo());
                world.registry.replace(changed, ReplacementRule::Stop).unwrap();
            },
            "definition_changed",
        ),
        (
            // The run may use the new definition; what was approved is still another one.
            "its version changes and runs migrate",
            |world| {
                let changed = world.spec(transfer().version("2.0"), echo());
                world.registry.replace(changed, ReplacementRule::Migrate).unwrap();
            },
            "approval_stale",
        ),
        (
            "the old definition may be finished with",
            |world| {
                let changed = world.spec(transfer().version("2.0"), echo());
                world.registry.replace(changed, ReplacementRule::Finish).unwrap();
            },
            "ok",
        ),
        ("another registry, without the tool", |world| world.registry = Arc::default(), "unknown_tool"),
        ("the policy asks as before", |world| world.policy = Arc::new(Always(PolicyDecision::Ask)), "ok"),
    ];
    for (what, between, code) in rows {
        for world in World::of_each_kind() {
            let (ran, question) = waiting(&world).await;
            world.answer(&question, ApprovalState::Granted).await.unwrap();
            let mut world = world.restarted();
            between(&mut world);
            let resumed = world.resume(ran.run_id()).await;
            assert_eq!(resumed.codes(), [*code], "{what}");
            assert_eq!(world.entered().len(), usize::from(*code == "ok"), "{what}");
        }
    }
}

/// The subject of a caller, and how a call with alice's approval ends.
#[tokio::test]
async fn an_approval_is_for_one_subject() {
    let alice = Subject { tenant: "demo".into(), user: "alice".into(), agent: "helper".into(), ..Subject::default() };
    let subjects = [
        (alice.clone(), "ok"),
        (Subject { user: "bob".into(), ..alice.clone() }, "approval_stale"),
        (Subject { tenant: "other".into(), ..alice.clone() }, "approval_stale"),
        (Subject { agent: "another".into(), ..alice.clone() }, "approval_stale"),
        (Subject { tenant: "demoalice".into(), user: String::new(), ..alice.clone() }, "approval_stale"),
    ];
    for (subject, code) in subjects {
        for mut world in World::of_each_kind() {
            world.subject = alice.clone();
            world.add(transfer(), echo());
            let first = world.direct("transfer", r#"{"to":"bob","amount":5}"#).await;
            let question = world.questions(&first.run_id).await.remove(0);
            world.answer(&question, ApprovalState::Granted).await.unwrap();
            world.subject = subject.clone();
            let runner = world.runner(Vec::new());
            let mut call = DirectCall::new(subject.clone(), world.binding(), "transfer", r#"{"to":"bob","amount":5}"#);
            call.approval = Some(question.approval_id.clone());
            // Refused by whichever check comes first: the run of another subject, or the digest.
            let refused = runner.call(call).await;
            if code == "ok" {
                assert_eq!(code_of(&refused.unwrap()), "ok");
            }
            assert_eq!(world.entered().len(), usize::from(code == "ok"), "{subject:?}"); // R-173
        }
    }
}

#[tokio::test]
async fn an_approval_of_one_run_is_nothing_to_another() {
    for world in World::of_each_kind() {
        let (first, question) = waiting(&world).await;
        let second = world.run(vec![to_bob()]).await;
        let other = world.questions(second.run_id()).await.remove(0);
        assert_ne!(question.digest, other.digest, "the same call of another run is another question");
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        assert_eq!(world.resume(second.run_id()).await.codes(), ["approval_required"]);
        assert!(world.entered().is_empty());
        // Shown the digest of one, answering for the other.
        let refused = world.answer_shown(&other, ApprovalState::Granted, question.digest).await.unwrap_err();
        assert!(matches!(refused, DecisionRefused::Digest(_)), "{refused}");
        assert_eq!(world.resume(first.run_id()).await.codes(), ["ok"]);
        assert_eq!(world.resume(second.run_id()).await.codes(), ["approval_required"]);
        assert_eq!(world.entered().len(), 1);
    }
}

#[tokio::test]
async fn resumed_three_times_and_from_two_places_it_runs_once() {
    for world in World::of_each_kind() {
        let (ran, question) = waiting(&world).await;
        for _ in 0..3 {
            // Nobody decided: nothing happens, not even an event.
            assert_eq!(world.resume(ran.run_id()).await.state.last_seq(), ran.state.last_seq());
        }
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        for _ in 0..3 {
            assert_eq!(world.restarted().resume(ran.run_id()).await.codes(), ["ok"]);
        }
        assert_eq!(world.entered().len(), 1);
        assert_eq!(world.questions(ran.run_id()).await[0].state, ApprovalState::Consumed);
    }
    // At the same time: one drives, and its result is the call's.
    for world in World::of_each_kind() {
        let (ran, question) = waiting(&world).await;
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        let (one, other) = (world.restarted(), world.restarted());
        let (one, other) = (one.runner(Vec::new()), other.runner(Vec::new()));
        let resume = Resume::default;
        let (one, other) = tokio::join!(one.resume(ran.run_id(), resume()), other.resume(ran.run_id(), resume()));
        assert!(one.is_ok() || other.is_ok());
        assert_eq!(world.entered().len(), 1);
        assert_eq!(world.restarted().resume(ran.run_id()).await.codes(), ["ok"]);
        assert_eq!(world.entered().len(), 1);
    }
}
