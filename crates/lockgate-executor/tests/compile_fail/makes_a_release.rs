//! What leaves the gate is made in one module: no other can make up a result, or show an output that was not checked.

include!("gate/modules.rs");

fn a_settlement(settled: lockgate_contract::event::Settled, other: Settlement) -> Released {
    Released::Settled(Box::new(Settlement { settled, ..other }))
}

fn an_answer(other: released::Open) -> Released {
    Released::Open(Box::new(released::Open { approval_id: "apr-0".into(), ..other }))
}

fn a_success_without_the_check(trail: &Trail<'_>, output: checked::CheckedOutput) {
    let _ = released::succeeded(trail, output);
}

fn a_checked_output<'g>(recorded: Recorded<'g>, output: lockgate_contract::document::Document) -> Checked<'g> {
    Checked { _recorded: recorded, output, truncated_chars: 0, lossy: false, env_reported_completion: true }
}

fn main() {}
