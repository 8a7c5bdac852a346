//! A token lends the one before it, and never gives it back: no stage is passed twice, and two cannot be swapped.

include!("gate/modules.rs");

fn policy_before_schema<'g>(token: Authorized<'g>, trail: &mut Trail<'g>) {
    let _ = token.validate(trail);
}

async fn intent_before_policy<'g>(token: Recorded<'g>, trail: &mut Trail<'g>) {
    let _ = token.authorize(trail).await;
}

async fn handler_before_intent<'g>(token: Ran<'g>, trail: &mut Trail<'g>) {
    let _ = token.record(trail).await;
}

async fn handler_twice<'g>(token: Ran<'g>, trail: &mut Trail<'g>) {
    let _ = token.run(trail).await;
}

fn main() {}
