//! Answers: when one is in time, and which of several stands.

use super::*;

/// Milliseconds after the question at which it is granted, and at which it is used; and how the call ends.
const INSTANTS: &[(u64, u64, &str)] = &[
    (0, 0, "ok"),
    (299_999, 299_999, "ok"),
    (0, 299_999, "ok"),
    // At the expiry itself it is too late.
    (0, 300_000, "approval_expired"),
    (299_999, 300_000, "approval_expired"),
    (0, 86_400_000, "approval_expired"),
];

#[tokio::test]
async fn the_boundary_is_a_millisecond_wide() {
    for (granted, used, code) in INSTANTS {
        for mut world in World::of_each_kind() {
            world.options.approval_expires = Duration::from_mins(5);
            let (ran, question) = waiting(&world).await;
            world.clock.forward(Duration::from_millis(*granted));
            world.answer(&question, ApprovalState::Granted).await.unwrap();
            world.clock.forward(Duration::from_millis(used - granted));
            let resumed = world.resume(ran.run_id()).await;
            assert_eq!(resumed.codes(), [*code], "{granted} {used}");
            assert_eq!(world.entered().len(), usize::from(*code == "ok"));
        }
    }
    let world = World::in_memory();
    let (_, question) = waiting(&world).await;
    world.clock.forward(Duration::from_mins(10));
    world.answer(&question, ApprovalState::Granted).await.unwrap_err();
    // A time of nothing: nobody can answer, and nobody waits for ever.
    let mut world = World::in_memory();
    world.options.approval_expires = Duration::ZERO;
    world.add(transfer(), echo());
    let ran = world.run(vec![to_bob()]).await;
    assert!(world.entered().is_empty());
    assert_eq!(world.resume(ran.run_id()).await.codes(), ["approval_expired"]);
}

/// Answers one after another, and whether each is taken; then how the call ends.
const ANSWERS: &[(&[(ApprovalState, bool)], &str)] = &[
    (&[(ApprovalState::Granted, true), (ApprovalState::Granted, false)], "ok"),
    (&[(ApprovalState::Granted, true), (ApprovalState::Denied, false)], "ok"),
    (&[(ApprovalState::Denied, true), (ApprovalState::Granted, false)], "approval_denied"),
    (&[(ApprovalState::Denied, true), (ApprovalState::Denied, false)], "approval_denied"),
    (&[(ApprovalState::Granted, true), (ApprovalState::Withdrawn, true)], "approval_withdrawn"),
    (&[(ApprovalState::Withdrawn, true), (ApprovalState::Granted, false)], "approval_withdrawn"),
    // What nobody can answer.
    (
        &[(ApprovalState::Consumed, false), (ApprovalState::Pending, false), (ApprovalState::Expired, false)],
        "approval_required",
    ),
];

#[tokio::test]
async fn the_first_answer_stands() {
    for (answers, code) in ANSWERS {
        for world in World::of_each_kind() {
            let (ran, question) = waiting(&world).await;
            for (answer, taken) in *answers {
                assert_eq!(world.answer(&question, *answer).await.is_ok(), *taken, "{answers:?}");
            }
            let resumed = world.resume(ran.run_id()).await;
            assert_eq!(resumed.codes(), [*code], "{answers:?}");
            assert_eq!(world.entered().len(), usize::from(*code == "ok"), "{answers:?}");
            // Once the call is settled, nothing can be answered any more.
            for late in [ApprovalState::Granted, ApprovalState::Denied, ApprovalState::Withdrawn] {
                assert!(*code == "approval_required" || world.answer(&question, late).await.is_err(), "{answers:?}");
            }
        }
    }
}

#[tokio::test]
async fn there_is_no_answer_to_a_question_that_nobody_asked() {
    for world in World::of_each_kind() {
        let decision = Decision::new("apr-0000000000000000".into(), ApprovalState::Granted, "reviewer");
        assert!(matches!(world.journal.decide(decision).await, Err(DecisionRefused::NotFound(_))));
    }
}
