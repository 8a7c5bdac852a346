//! What is inside a token stays as its stage left it: what was approved is what runs.

include!("gate/modules.rs");

fn swaps_the_call_inside<'g>(mut token: Recorded<'g>, other: Validated<'g>) -> Recorded<'g> {
    token.authorized.validated = other;
    token
}

fn swaps_the_arguments<'g>(mut token: Authorized<'g>, other: lockgate_contract::arguments::Arguments) {
    token.arguments = other;
}

fn main() {}
