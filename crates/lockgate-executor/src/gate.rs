//! The gate and what it is built from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::Effect;
use lockgate_contract::observation::SyntheticObservations;
use lockgate_contract::ports::{ActionExecutor, Approvers, Clock, Journal, Obligations, PolicyEngine, Quota, Redactor};
use lockgate_registry::{Registry, RegistryExecutor};

use crate::error::GateError;
use crate::hooks::{Veto, check_names};
use crate::trail::panic_text;

/// The one gate that every tool call passes. One gate serves many runs; what belongs to a run comes with its
/// [`Scope`](crate::Scope).
#[derive(Clone)]
pub struct Gate {
    pub(crate) registry: Arc<Registry>,
    pub(crate) dispatch: Dispatch,
    pub(crate) policy: Arc<dyn PolicyEngine>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) redactor: Arc<dyn Redactor>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) options: GateOptions,
    pub(crate) observations: SyntheticObservations,
    pub(crate) vetoes: Arc<[Veto]>,
}

/// Who performs the action at the run stage. Nobody else ever does.
#[derive(Clone)]
pub enum Dispatch {
    /// The handlers of a registry.
    Registry(RegistryExecutor),
    /// A project's own executor (C-18). Its origin is not compared with the registry.
    Own(Arc<dyn ActionExecutor>),
}

impl From<RegistryExecutor> for Dispatch {
    fn from(executor: RegistryExecutor) -> Self {
        Self::Registry(executor)
    }
}

/// The operator's settings, the same for every run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateOptions {
    /// How long a call may take whose tool declares nothing.
    pub call_timeout: Duration,
    /// Bytes of an output's text that are released at most; the rest is kept as an artifact. 0 switches the limit off.
    pub max_output_bytes: usize,
    /// Bytes of an argument text at most.
    pub max_argument_bytes: usize,
    /// What the model learns about invalid arguments (C-3).
    pub argument_errors: ArgumentErrors,
    /// How long a question to a person stays open.
    pub approval_expires: Duration,
    /// How long one about this effect stays open at most, whatever a policy says.
    pub approval_max_expires: BTreeMap<Effect, Duration>,
    /// Whose yes a question needs where the policy does not say; absent: that of any one person.
    pub approvers: Option<Approvers>,
    /// Whether the model is told why a person said no.
    pub tell_reasons: bool,
    /// How long a caller's idempotency key is remembered.
    pub keep_keys: Duration,
    /// How many calls are admitted, and which of them are counted for the policy. What one of them covers is written down before
    /// it starts.
    pub quotas: Vec<Quota>,
    /// What the operator calls the environment that calls act on: an approval given for one is none in another.
    pub environment: Option<String>,
}

impl Default for GateOptions {
    fn default() -> Self {
        Self {
            call_timeout: Duration::from_secs(30),
            max_output_bytes: 65_536,
            max_argument_bytes: 1 << 20,
            argument_errors: ArgumentErrors::Code,
            approval_expires: Duration::from_mins(10),
            approval_max_expires: BTreeMap::new(),
            approvers: None,
            tell_reasons: false,
            keep_keys: Duration::from_hours(24),
            quotas: Vec::new(),
            environment: None,
        }
    }
}

impl GateOptions {
    /// Whose yes a question needs: the policy's word, or else the gate's own.
    pub fn approvers_of(&self, obligations: &Obligations) -> Option<Approvers> {
        obligations.approvers.clone().or_else(|| self.approvers.clone())
    }

    /// How long a question stays open.
    pub fn open_for(&self, obligations: &Obligations, effect: Effect) -> Duration {
        let wanted = obligations.expires_in.unwrap_or(self.approval_expires);
        self.at_most(obligations, effect).map_or(wanted, |most| wanted.min(most))
    }

    /// How long it may stay open at most: as the rules that ask say, and never longer than its effect may.
    pub(crate) fn at_most(&self, obligations: &Obligations, effect: Effect) -> Option<Duration> {
        self.approval_max_expires.get(&effect).copied().into_iter().chain(obligations.expires_in).min()
    }
}

/// What the model learns about invalid arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentErrors {
    /// The code and a reason word.
    Code,
    /// Also the JSON pointer and the keyword, of properties that the published schema declares. Never a value.
    DeclaredPaths,
}

/// Puts a [`Gate`] together.
pub struct GateBuilder {
    registry: Arc<Registry>,
    dispatch: Option<Dispatch>,
    policy: Arc<dyn PolicyEngine>,
    journal: Arc<dyn Journal>,
    redactor: Arc<dyn Redactor>,
    clock: Arc<dyn Clock>,
    options: GateOptions,
    observations: SyntheticObservations,
    vetoes: Vec<Veto>,
}

impl Gate {
    /// Starts a gate over a registry. Policy, journal, redactor and clock have no default: leaving one out does not compile.
    pub fn builder(
        registry: Arc<Registry>,
        policy: Arc<dyn PolicyEngine>,
        journal: Arc<dyn Journal>,
        redactor: Arc<dyn Redactor>,
        clock: Arc<dyn Clock>,
    ) -> GateBuilder {
        GateBuilder {
            registry,
            dispatch: None,
            policy,
            journal,
            redactor,
            clock,
            options: GateOptions::default(),
            observations: SyntheticObservations::new(),
            vetoes: Vec::new(),
        }
    }

    /// The registry in which names are resolved.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The journal in which calls are recorded.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// The redactor that every text passes on its way out.
    pub fn redactor(&self) -> &Arc<dyn Redactor> {
        &self.redactor
    }

    /// The clock that the gate was built with.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The settings.
    pub fn options(&self) -> &GateOptions {
        &self.options
    }

    /// The text without secrets. Of a text whose redactor breaks the promise of its port, nothing is shown.
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        catch_unwind(AssertUnwindSafe(|| self.redactor.scrub(text))).unwrap_or_else(|panic| {
            // The panic's own text may be the secret.
            let _ = panic_text(panic);
            tracing::error!("the redactor panicked");
            Cow::Borrowed("[redactor failed]")
        })
    }

    /// An argument text without secrets. Where it is JSON, its decoded values are looked at: `\u0068unter2` is a secret too.
    pub fn scrub_arguments(&self, text: &str) -> String {
        self.scrub_read_arguments(text, Document::parse(text, Limits::ARGUMENTS).ok().as_ref())
    }

    /// A document without secrets; nothing where there was none in it. Of one whose redactor breaks the promise of its port,
    /// nothing is shown.
    pub fn scrub_document(&self, document: &Document) -> Option<Document> {
        catch_unwind(AssertUnwindSafe(|| self.redactor.scrub_document(document))).unwrap_or_else(|panic| {
            // The panic's own text may be the secret.
            let _ = panic_text(panic);
            tracing::error!("the redactor panicked");
            Some(Document::string("[redactor failed]"))
        })
    }

    /// The same where the text was read already; `read` is nothing where it is no JSON.
    pub(crate) fn scrub_read_arguments(&self, text: &str, read: Option<&Document>) -> String {
        let values = catch_unwind(AssertUnwindSafe(|| read.and_then(|read| self.redactor.scrub_document(read))));
        let scrubbed = match &values {
            Ok(Some(scrubbed)) => scrubbed.text(),
            Ok(None) => text,
            Err(_) => "[redactor failed]",
        };
        self.scrub(scrubbed).into_owned()
    }

    /// The same for a text of the audit. It may hold JSON pointers, which write `/` as `~1` and `~` as `~0`: a secret in
    /// there is only recognised without that.
    pub(crate) fn scrub_audit(&self, text: &str) -> String {
        let plain = text.replace("~1", "/").replace("~0", "~");
        let scrubbed = self.scrub(&plain);
        if scrubbed == plain { self.scrub(text).into_owned() } else { scrubbed.into_owned() }
    }
}

impl GateBuilder {
    /// Who performs the actions. Without: the registry's own handlers.
    #[must_use]
    pub fn dispatch(mut self, dispatch: impl Into<Dispatch>) -> Self {
        self.dispatch = Some(dispatch.into());
        self
    }

    /// The operator's settings.
    #[must_use]
    pub fn options(mut self, options: GateOptions) -> Self {
        self.options = options;
        self
    }

    /// The sentences that the library puts into a model's history.
    #[must_use]
    pub fn observations(mut self, observations: SyntheticObservations) -> Self {
        self.observations = observations;
        self
    }

    /// A hook that may stop calls which the policy let pass: behind those that the gate has already.
    #[must_use]
    pub fn veto(mut self, veto: Veto) -> Self {
        self.vetoes.push(veto);
        self
    }

    /// The finished gate. Every missing handler is found here, not when a model calls, and so is an executor that
    /// belongs to another registry.
    pub fn build(self) -> Result<Gate, GateError> {
        let dispatch = match self.dispatch {
            Some(dispatch) => dispatch,
            None => Dispatch::Registry(self.registry.executor()?),
        };
        if let Dispatch::Registry(executor) = &dispatch
            && !Arc::ptr_eq(executor.registry(), &self.registry)
        {
            return Err(GateError::RegistryMismatch);
        }
        check_names(&self.vetoes)?;
        Ok(Gate {
            registry: self.registry,
            dispatch,
            policy: self.policy,
            journal: self.journal,
            redactor: self.redactor,
            clock: self.clock,
            options: self.options,
            observations: self.observations,
            vetoes: self.vetoes.into(),
        })
    }
}
