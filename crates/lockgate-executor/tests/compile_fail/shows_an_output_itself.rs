//! An output becomes a result in the release only, which scrubs, limits and stores it.

include!("gate/modules.rs");

fn a_success_without_a_checked_call(trail: &mut Trail<'_>, output: Checked) {
    let _ = released::succeeded(trail, output);
}

async fn a_success_that_is_not_scrubbed(trail: &mut Trail<'_>, settled: std::sync::Arc<lockgate_contract::event::Settled>) {
    let _ = released::journal(trail, settled, None).await;
}

fn main() {}
