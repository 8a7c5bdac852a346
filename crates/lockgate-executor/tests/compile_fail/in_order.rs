//! The right order compiles: the other cases fail for what they do, not for how they are set up.

include!("gate/modules.rs");

#[allow(dead_code)]
async fn in_order<'g>(
    request: &'g Request,
    gate: &'g Gate,
    scope: &'g Scope,
    mut trail: Trail<'g>,
) -> Result<Released, Exit> {
    let proposed: Proposed<'g> = propose(request, gate, scope, &mut trail)?;
    let resolved: Resolved<'g> = proposed.resolve(&mut trail)?;
    let validated: Validated<'g> = resolved.validate(&mut trail)?;
    let authorized: Authorized<'g> = validated.authorize(&mut trail).await?;
    let recorded: Recorded<'g> = authorized.record(&mut trail).await?;
    let ran: Ran<'g> = recorded.run(&mut trail).await?;
    let checked: Checked = ran.check(&mut trail)?;
    Ok(release(trail, Ok(checked), false).await)
}

fn main() {}
