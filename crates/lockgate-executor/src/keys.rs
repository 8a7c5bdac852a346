//! A caller's own key: the same request is one effect, however often it is sent.

use std::sync::Arc;

use lockgate_contract::approval::Binding;
use lockgate_contract::digest::Digest;
use lockgate_contract::document::Document;
use lockgate_contract::ids::CallId;
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::ports::KeyHolder;

use crate::authorized::storage_unavailable;
use crate::exit::{Exit, Refusal};
use crate::validated::Validated;

impl Validated<'_> {
    /// Looks whether the request was sent before: nobody is asked about one that has its answer. A key that is taken
    /// meanwhile is found by the claim.
    pub(crate) async fn look_at_the_key(&self) -> Result<(), Exit> {
        let Some(key) = &self.terms().caller_key else { return Ok(()) };
        let tenant = &self.scope().subject.tenant;
        match self.scope().log.key_holder(tenant, key).await {
            Ok(Some(holder)) if holder.call_id != self.call().call_id => self.unused_by(holder).await.map(drop),
            Ok(_) => Ok(()),
            Err(error) => Err(storage_unavailable(&error)),
        }
    }

    /// What a caller's key stands for: on whose behalf, which tool, which arguments.
    pub(crate) fn request_digest(&self) -> Digest {
        let subject = Binding::subject(&self.scope().subject);
        let request = (subject, self.tool().spec().name(), self.arguments_digest().to_string());
        // INVARIANT: strings always serialise.
        let request = Document::from_serialize(&request).unwrap_or_else(|_| Document::null());
        Digest::of("lockgate.request.v1", &request)
    }

    /// The caller's key belongs to an earlier call: the same request gets that call's result, also while it is on its way;
    /// another request is refused. A call that was never executed, or so a person found out, passes its key on.
    pub(crate) async fn unused_by(&self, holder: KeyHolder) -> Result<CallId, Exit> {
        if holder.request != self.request_digest() {
            let audit =
                format!("the idempotency key belongs to call `{}`, which requests something else", holder.call_id);
            return Err(Refusal::new(Code::IdempotencyConflict, audit).into());
        }
        tokio::select! {
            // In this order: a result that is there counts, whatever else happened meanwhile.
            biased;
            settled = self.scope().log.result_elsewhere(&holder.run_id, &holder.call_id) => match settled {
                Ok(settled) if settled.status == Status::NotExecuted => Ok(holder.call_id),
                Ok(settled) => Err(Exit::Reused {
                    earlier: holder.call_id,
                    why: "it was sent before under the same idempotency key",
                    settled: Box::new(Arc::unwrap_or_clone(settled)),
                }),
                Err(error) => Err(storage_unavailable(&error)),
            },
            () = self.scope().cancel.cancelled() => Err(Exit::Cancelled { started: false }),
            () = tokio::time::sleep(self.timeout()) => {
                let audit = format!("call `{}` has the same idempotency key, and no result yet", holder.call_id);
                Err(Refusal::new(Code::InProgress, audit).into())
            }
        }
    }
}
