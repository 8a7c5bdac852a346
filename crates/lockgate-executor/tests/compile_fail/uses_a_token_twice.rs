//! A stage takes its token, and there is no second one.

include!("gate/modules.rs");

async fn authorizes_once_and_records_twice<'g>(token: Authorized<'g>, trail: &mut Trail<'g>) {
    let _ = token.record(trail).await;
    let _ = token.record(trail).await;
}

async fn runs_twice<'g>(token: Recorded<'g>, trail: &mut Trail<'g>) {
    let _ = token.run(trail).await;
    let _ = token.run(trail).await;
}

async fn runs_a_copy<'g>(token: Recorded<'g>, trail: &mut Trail<'g>) {
    let copy: Recorded<'g> = token.clone();
    let _ = copy.run(trail).await;
}

fn copies_an_authorization<'g>(token: &Authorized<'g>) -> Authorized<'g> {
    Authorized::clone(token)
}

fn main() {}
