//! A call's way through the gate: this file is the picture.

use std::panic::AssertUnwindSafe;
use std::pin::pin;

use futures_util::FutureExt as _;
use lockgate_contract::outcome::Code;
use tracing::Instrument as _;

use crate::checked::Checked;
use crate::exit::{Exit, Refusal};
use crate::gate::Gate;
use crate::proposed::propose;
use crate::released::{Released, release};
use crate::scope::{Request, Scope};
use crate::trail::Trail;

impl Gate {
    /// Takes one requested call to its one outcome.
    ///
    /// It is polled to its end and stopped through the scope's cancel token. It never retries, and never decides that a
    /// run ends (architecture rule 10).
    pub async fn call(&self, request: Request, scope: &Scope) -> Released {
        let mut trail = Trail::begin(self, scope, &request);
        let span = tracing::info_span!(
            "execute_tool",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = trail.shown_name,
            gen_ai.tool.call.id = %request.call.call_id,
            call_id = %request.call.call_id,
            code = tracing::field::Empty,
        );
        let ending = {
            // Pinned where it stands: what is wrapped around it moves a pointer, not a future of some kilobytes.
            let stages = pin!(self.stages(&request, scope, &mut trail));
            AssertUnwindSafe(stages.instrument(span.clone())).catch_unwind().await
        };
        // A handler's own panic is caught where it runs: this one is the gate's.
        let ending = ending.unwrap_or_else(|panic| Err(Trail::gate_defect(panic).into()));
        let release = pin!(release(trail, ending, request.terms.may_retry));
        release.instrument(span).await
    }

    /// Each line takes the token that the line above made; only a stage's module can make its token.
    async fn stages<'g>(
        &'g self,
        request: &'g Request,
        scope: &'g Scope,
        trail: &mut Trail<'g>,
    ) -> Result<Checked, Exit> {
        let proposed = propose(request, self, scope, trail)?;
        let resolved = proposed.resolve(trail)?;
        let validated = resolved.validate(trail)?;
        let authorized = validated.authorize(trail).await?;
        let recorded = authorized.record(trail).await?;
        let ran = recorded.run(trail).await?;
        ran.check(trail)
    }

    /// Settles a call that does not go through the stages: the run's own decisions about it, and what recovery finds.
    /// `started` says whether its handler may have been entered before.
    pub async fn settle(&self, request: Request, code: Code, started: bool, why: &str, scope: &Scope) -> Released {
        let mut trail = Trail::begin(self, scope, &request);
        trail.started = started;
        if let Ok(tool) = self.registry.resolve(&request.call.tool_name, &scope.allowed) {
            trail.see_tool(&tool);
        }
        let refusal = self.with_reason(Refusal::new(code, why), request.terms.said.as_deref());
        release(trail, Err(refusal.into()), false).await
    }
}
