//! A token can only be made in its stage's module.

include!("gate/modules.rs");

fn resolved<'g>(proposed: Proposed<'g>, tool: std::sync::Arc<lockgate_registry::RegisteredTool>) -> Resolved<'g> {
    Resolved { proposed, tool }
}

fn validated<'g>(resolved: Resolved<'g>, arguments_digest: lockgate_contract::digest::Digest) -> Validated<'g> {
    Validated { resolved, arguments_digest, prepared: None }
}

fn authorized<'g>(
    validated: Validated<'g>,
    key: lockgate_contract::tool::IdempotencyKey,
    permission: lockgate_contract::effect::Permission,
) -> Authorized<'g> {
    Authorized { validated, key, approval: None, policies: Vec::new(), permission, seen: Vec::new() }
}

fn recorded<'g>(authorized: Authorized<'g>) -> Recorded<'g> {
    Recorded { authorized }
}

fn ran<'g>(recorded: Recorded<'g>, output: lockgate_contract::tool::Output) -> Ran<'g> {
    Ran { recorded, output, env_reported_completion: true }
}

fn found<'g>(resolved: Resolved<'g>, output: lockgate_contract::tool::Output) -> Found<'g> {
    Found { resolved, output }
}

fn checked(output: CheckedOutput) -> Checked {
    Checked { output }
}

fn main() {}
