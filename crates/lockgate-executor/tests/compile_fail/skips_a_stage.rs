//! Each token has the next stage's verb, and no other.

include!("gate/modules.rs");

fn the_name_is_not_looked_up<'g>(token: Proposed<'g>, trail: &mut Trail<'g>) {
    let _ = token.validate(trail);
}

async fn the_schema_is_not_asked<'g>(token: Resolved<'g>, trail: &mut Trail<'g>) {
    let _ = token.authorize(trail).await;
}

async fn the_policy_is_not_asked<'g>(token: Validated<'g>, trail: &mut Trail<'g>) {
    let _ = token.record(trail).await;
}

async fn the_intent_is_not_written<'g>(token: Authorized<'g>, trail: &mut Trail<'g>) {
    let _ = token.run(trail).await;
}

fn the_handler_is_not_run<'g>(token: Recorded<'g>, trail: &mut Trail<'g>) {
    let _ = token.check(trail);
}

async fn the_output_is_not_checked<'g>(token: Ran<'g>, trail: Trail<'g>) {
    let _ = release(trail, Ok(token), false).await;
}

fn main() {}
