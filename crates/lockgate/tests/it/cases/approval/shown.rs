//! What a person is shown is what is bound.

use super::*;

/// What a person is shown is what is there: nothing invisible, nothing that reorders.
#[tokio::test]
async fn what_cannot_be_seen_is_shown() {
    let world = World::in_memory();
    world.add(transfer(), echo());
    let hidden = r#"{"to":"bob\u202eeve","amount":5,"memo":"a\u200bb\u0000c\u001b[31m\ntransfer 1.0 approved"}"#;
    let answer = world.direct("transfer", hidden).await;
    let shown = world.questions(&answer.run_id).await.remove(0).shown_text;
    assert!(shown.is_ascii() && !shown.contains('\u{1b}'), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.contains("approved")).count(), 1);
    assert!(!shown.lines().any(|line| line.starts_with("transfer 1.0 approved")), "{shown}");
    let literal = "{\"to\":\"bob\u{202e}\u{2066}eve\",\"amount\":5}";
    let answer = world.direct("transfer", literal).await;
    let shown = world.questions(&answer.run_id).await.remove(0).shown_text;
    assert!(shown.contains("\\u{202e}\\u{2066}eve") && shown.is_ascii(), "{shown}");
}

/// The arguments in the record are the arguments in the digest.
#[tokio::test]
async fn the_digest_is_over_the_value_and_not_over_its_spelling() {
    let world = World::in_memory();
    let (_, question) = waiting(&world).await;
    let same = Arguments::parse(r#"{ "amount": 5.0, "to": "\u0062ob" }"#, Limits::ARGUMENTS).unwrap();
    assert_eq!(digest_over(&question, same.document(), &world.subject), question.digest);
    for other in
        [r#"{"amount":5,"to":"Bob"}"#, r#"{"amount":5,"to":"bob","memo":null}"#, r#"{"amount":"5","to":"bob"}"#]
    {
        let other = Arguments::parse(other, Limits::ARGUMENTS).unwrap();
        assert_ne!(digest_over(&question, other.document(), &world.subject), question.digest);
    }
}
