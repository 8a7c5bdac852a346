//! A caller's own key: the same request is one effect, however often it is sent.

use std::sync::Arc;

use lockgate_contract::approval::Binding;
use lockgate_contract::digest::Digest;
use lockgate_contract::document::Document;
use lockgate_contract::outcome::Code;
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
            Ok(Some(holder)) if holder.call_id != self.call().call_id => Err(self.key_taken(holder).await),
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
    /// another request is refused.
    pub(crate) async fn key_taken(&self, holder: KeyHolder) -> Exit {
        if holder.request != self.request_digest() {
            let audit =
                format!("the idempotency key belongs to call `{}`, which requests something else", holder.call_id);
            return Refusal::new(Code::IdempotencyConflict, audit).into();
        }
        tokio::select! {
            // In this order: a result that is there counts, whatever else happened meanwhile.
            biased;
            settled = self.scope().log.result_elsewhere(&holder.run_id, &holder.call_id) => match settled {
                Ok(settled) => Exit::Reused {
                    earlier: holder.call_id,
                    why: "it was sent before under the same idempotency key",
                    settled: Box::new(Arc::unwrap_or_clone(settled)),
                },
                Err(error) => storage_unavailable(&error),
            },
            () = self.scope().cancel.cancelled() => Exit::Cancelled { started: false },
            () = tokio::time::sleep(self.timeout()) => {
                let audit = format!("call `{}` has the same idempotency key, and no result yet", holder.call_id);
                Refusal::new(Code::InProgress, audit).into()
            }
        }
    }
}
