//! From a run file to a gate and a runner: what the command and the server put together before anything runs.

mod error;
mod hooks;
mod logins;
mod names;
mod policy;
mod redaction;
mod servers;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockgate_config::{
    ArgumentErrorsRule, CoreSet, DEFAULT_JOURNAL, GateTable, JournalTable, ModelTable, NotifyBy, NotifyTable,
    QuotaTable, RemoteTable, RunFile, ToolCallsWord, ToolsTable, UnknownFieldsRule, UsdPerMillion,
};
use lockgate_contract::ports::{Journal, ModelAdapter, PolicyEngine, Redactor, Visibility};
use lockgate_contract::run::RunKind;
use lockgate_contract::subject::Subject;
use lockgate_contract::tool::ToolSpec;
use lockgate_executor::{ArgumentErrors, Gate, GateBuilder, GateOptions};
use lockgate_harness::{AgentRun, DirectCall, RunState, Runner, RunnerOptions};
use lockgate_host::clock::SystemClock;
use lockgate_host::randomness::RandomIds;
use lockgate_journal::{SigningJournal, SigningKey};
use lockgate_mcp::upstream::{Beside, Condition, Connections};
use lockgate_models::{Prices, Provider, RemoteModel, RemoteOptions, ScriptedModel, ToolCalls};
use lockgate_notify::{Notifier, Program, Target, TargetError, Webhook};
use lockgate_policy::NativePolicy;
#[cfg(feature = "cedar")]
use lockgate_policy::cedar::CedarPolicy;
use lockgate_redact::ScrubberBuilder;
use lockgate_registry::schema::UnknownFields;
use lockgate_registry::{Discovery, Registry, RegistryRules, Standing};
use lockgate_sources::catalog::{Catalog, Resolvers};
use lockgate_sources::core::{Root, read_tools};
use lockgate_sources::mock::TimeSpan;

pub use self::error::AssemblyError;
pub use self::logins::{log_in, log_out};
use self::names::{Names, check_pins};
use self::policy::Policy;
use self::redaction::{check_shown, scrubber};
use self::servers::Live;
pub use self::servers::Servers;

/// Everything that one run file stands for. Nothing has run yet.
pub struct Assembly {
    /// The file's tables.
    pub run_file: RunFile,
    /// The file, as it was named.
    pub path: PathBuf,
    /// The tools that exist.
    pub registry: Arc<Registry>,
    /// Where the truth is kept.
    pub journal: Arc<dyn Journal>,
    /// Who the file names to decide whether a call may run, for whoever only wants to know the answer: a decision point is told
    /// that nothing follows from it. The gate has its own.
    pub policy: Arc<dyn PolicyEngine>,
    /// The rules that decide, or that are tried in the shadow, where the file names some.
    #[cfg(feature = "cedar")]
    pub cedar: Option<Arc<CedarPolicy>>,
    /// The gate over all of it.
    pub gate: Arc<Gate>,
    /// Who is told that people are asked.
    pub notifier: Arc<Notifier>,
    /// What the subject may see, within the file's `allow`.
    pub discovery: Discovery,
    /// What an operator should know, and what stops nothing.
    pub warnings: Vec<String>,
    /// The MCP servers whose tools are among them, where they were started.
    pub servers: Option<Arc<Servers>>,
}

/// What the caller knows better than the run file.
#[derive(Default)]
pub struct Overrides {
    /// An open journal.
    pub journal: Option<Arc<dyn Journal>>,
    /// The journal's URL, where none is open.
    pub journal_url: Option<String>,
    /// How often each tool's handler was entered before in this run; see [`entered`].
    pub entered: BTreeMap<String, u32>,
    /// Handlers for catalog rows of kind `native`, by their keys.
    pub resolvers: Option<Resolvers>,
    /// A project's own rule that hides tools from subjects, beyond what the run file and the tools say.
    pub visibility: Option<Arc<dyn Visibility>>,
    /// Who decides whether a call may run, in place of what the run file says.
    pub policy: Option<Arc<dyn PolicyEngine>>,
    /// The file's MCP servers, where they run already.
    pub servers: Option<Arc<Servers>>,
}

/// Opens a journal with the machine's clock.
pub fn open_journal(url: &str) -> Result<Arc<dyn Journal>, AssemblyError> {
    Ok(lockgate_journal::open(url, Arc::new(SystemClock))?)
}

/// A runner over a journal and no tools: for what runs nothing, such as writing down what became of a call.
pub fn without_tools(journal: Arc<dyn Journal>) -> Result<Runner, AssemblyError> {
    let registry = Arc::new(Registry::default());
    let redactor = Arc::new(ScrubberBuilder::new().build()?);
    let gate = Gate::builder(registry, Arc::new(NativePolicy::new()), journal, redactor, Arc::new(SystemClock));
    Ok(Runner::new(Arc::new(gate.build()?), Arc::new(RandomIds), RunnerOptions::default()))
}

/// The folder that a run file's paths are relative to, absolute.
pub fn folder_of(run_file: &Path) -> PathBuf {
    let absolute = std::path::absolute(run_file).unwrap_or_else(|_| run_file.to_owned());
    absolute.parent().unwrap_or(Path::new("")).to_owned()
}

/// How often each tool's handler was entered in a run so far: what scripted behaviour goes on from.
pub fn entered(state: &RunState) -> BTreeMap<String, u32> {
    let mut entered = BTreeMap::new();
    for call in state.calls() {
        *entered.entry(call.tool_name.clone()).or_default() += call.attempts;
    }
    entered
}

impl Assembly {
    /// Reads a run file, starts its MCP servers, waits until each is ready or has failed, and puts everything together.
    ///
    /// # Errors
    ///
    /// As [`Assembly::load`]; and a server that the file says nothing may start without could not be started.
    pub async fn open(path: &Path, mut overrides: Overrides) -> Result<Self, AssemblyError> {
        let run_file = RunFile::read(path)?;
        if !run_file.mcp.is_empty() && overrides.servers.is_none() {
            let servers = Servers::start(&run_file, &folder_of(path), Arc::new(Connections));
            servers.settled(&run_file).await?;
            overrides.servers = Some(servers);
        }
        Self::of(run_file, path, overrides)
    }

    /// Reads a run file and puts everything together, but for its MCP servers: their tools are not there. What does not hold together
    /// is found here, not at a call.
    pub fn load(path: &Path, overrides: Overrides) -> Result<Self, AssemblyError> {
        Self::of(RunFile::read(path)?, path, overrides)
    }

    /// Puts a run file together that was read already.
    ///
    /// # Errors
    ///
    /// What does not hold together.
    pub fn of(run_file: RunFile, path: &Path, overrides: Overrides) -> Result<Self, AssemblyError> {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        // Absolute, so that a resume from another folder finds this file and no other, and so do the programs that it starts.
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let place = folder_of(path);
        let mut warnings = Vec::new();
        let sign_key = sign_key(&run_file.journal, &folder)?;
        let learned = overrides.servers.as_ref().map(|servers| servers.learned());
        let redactor: Arc<dyn Redactor> =
            Arc::new(scrubber(&run_file, &folder, sign_key.as_ref(), learned, &mut warnings)?);
        let notifier = Notifier::new(targets(&run_file.notify, &place)?, Arc::clone(&redactor));
        let notifier = Arc::new(notifier.with_hooks(hooks::told_after(&run_file.hook, &place, &mut warnings)?));
        warnings.extend(run_file.approvals.too_few());
        let mut registry = Registry::new(RegistryRules { unknown_fields: unknown_fields(&run_file.gate) });
        if let Some(visibility) = overrides.visibility {
            registry = registry.with_visibility(visibility);
        }
        let resolvers = overrides.resolvers.unwrap_or_default();
        for spec in tools(&run_file.tools, &folder, &resolvers, &overrides.entered)? {
            check_shown(&spec, &*redactor)?;
            registry.register(spec)?;
        }
        let owned = match &overrides.servers {
            Some(servers) => take_in(servers, &registry, &*redactor, &mut warnings),
            None => BTreeMap::new(),
        };
        let policy = match overrides.policy {
            Some(engine) => Policy::new(engine),
            None => Policy::of(&run_file, &folder, &registry, &redactor)?,
        };
        #[cfg(feature = "cedar")]
        if let Some(cedar) = &policy.cedar {
            warnings.extend(cedar.rules().warnings().iter().map(ToString::to_string));
            registry = registry.with_visibility(Arc::clone(cedar) as Arc<dyn Visibility>);
        }
        let registry = Arc::new(registry);
        let subject = run_file.subject.subject();
        let mut names = Names { registry: &registry, servers: &run_file.mcp, warnings: &mut warnings };
        check_pins(&mut names, &subject)?;
        for tool in run_file.quota.iter().filter_map(|quota| quota.tool.as_deref()) {
            names.named("quota", tool)?;
        }
        hooks::check_tools(&run_file.hook, &mut names)?;
        let discovery = discover(&registry, &subject, &run_file.tools, &mut warnings);
        let journal = if let Some(journal) = overrides.journal {
            journal
        } else {
            let url = overrides.journal_url.as_deref().or(run_file.journal.url.as_deref());
            open_journal(url.unwrap_or(DEFAULT_JOURNAL))?
        };
        let journal = match sign_key {
            Some(key) => Arc::new(SigningJournal::new(journal, Arc::new(key))),
            None => journal,
        };
        let vetoes = hooks::vetoes(&run_file.hook, &place, &redactor);
        let live = Live {
            registry: Arc::clone(&registry),
            redactor: Arc::clone(&redactor),
            #[cfg(feature = "cedar")]
            cedar: policy.cedar.clone(),
            owned,
        };
        let gate =
            Gate::builder(Arc::clone(&registry), policy.engine, Arc::clone(&journal), redactor, Arc::new(SystemClock))
                .options(gate_options(&run_file));
        let gate = vetoes.into_iter().fold(gate, GateBuilder::veto).build()?;
        if let Some(servers) = &overrides.servers {
            servers.go_live(live);
        }
        Ok(Self {
            run_file,
            path: absolute,
            registry,
            journal,
            policy: policy.named,
            #[cfg(feature = "cedar")]
            cedar: policy.cedar,
            gate: Arc::new(gate),
            notifier,
            discovery,
            warnings,
            servers: overrides.servers,
        })
    }

    /// A runner with the run file's model.
    pub fn runner(&self, options: RunnerOptions) -> Result<Runner, AssemblyError> {
        Ok(self.caller(options).with_model(self.model()?))
    }

    /// A runner for a run of this kind: only an agent's needs the run file's model.
    pub fn runner_for(&self, kind: RunKind, options: RunnerOptions) -> Result<Runner, AssemblyError> {
        match kind {
            RunKind::Agent => self.runner(options),
            RunKind::Direct => Ok(self.caller(options)),
        }
    }

    /// A runner without a model, for direct calls.
    pub fn caller(&self, options: RunnerOptions) -> Runner {
        let parallel_reads = self.run_file.gate.parallel_reads.unwrap_or(options.parallel_reads);
        let chain = self.run_file.journal.chain || options.chain;
        let runner = RunnerOptions { parallel_reads, chain, ..options };
        let runner = Runner::new(Arc::clone(&self.gate), Arc::new(RandomIds), runner);
        if self.notifier.watches() { runner.observed_by(self.notifier.observer()) } else { runner }
    }

    /// The run that the file describes.
    pub fn agent_run(&self) -> Result<AgentRun, AssemblyError> {
        let task = self.run_file.task.as_deref().ok_or_else(|| self.missing("task"))?;
        let run = AgentRun::new(task, self.run_file.subject.subject(), self.discovery.bind());
        Ok(AgentRun {
            system: self.run_file.system.clone(),
            budget: self.run_file.budget.budget(),
            on_unknown: self.run_file.gate.on_unknown.unwrap_or(run.on_unknown),
            run_file: Some(self.path.display().to_string()),
            ..run
        })
    }

    /// One call with the file's tools and subject.
    pub fn direct_call(&self, tool_name: String, arguments_text: String) -> DirectCall {
        DirectCall {
            run_file: Some(self.path.display().to_string()),
            ..DirectCall::new(self.run_file.subject.subject(), self.discovery.bind(), tool_name, arguments_text)
        }
    }

    fn model(&self) -> Result<Arc<dyn ModelAdapter>, AssemblyError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        match self.run_file.model.as_ref().ok_or_else(|| self.missing("model"))? {
            ModelTable::Scripted { script } => Ok(Arc::new(ScriptedModel::read(&folder.join(script))?)),
            ModelTable::OpenaiCompatible(table) => remote(Provider::OpenaiCompatible, table),
            ModelTable::Openai(table) => remote(Provider::Openai, table),
            ModelTable::Anthropic(table) => remote(Provider::Anthropic, table),
            ModelTable::Gemini(table) => remote(Provider::Gemini, table),
            ModelTable::Ollama(table) => remote(Provider::Ollama, table),
        }
    }

    fn missing(&self, key: &'static str) -> AssemblyError {
        AssemblyError::Missing { path: self.path.clone(), key }
    }
}

/// A model behind a server.
fn remote(provider: Provider, table: &RemoteTable) -> Result<Arc<dyn ModelAdapter>, AssemblyError> {
    let default = RemoteOptions::new(provider, table.model.clone());
    let prices = table.price.map(|price| Prices {
        input: price.input.millionths(),
        cached_input: price.cached_input.map(UsdPerMillion::millionths),
        output: price.output.millionths(),
    });
    let options = RemoteOptions {
        base_url: table.base_url.clone(),
        api_key_variable: table.api_key_env.clone(),
        timeout: table.timeout.map_or(default.timeout, TimeSpan::as_duration),
        max_output_tokens: table.max_output_tokens,
        temperature: table.temperature,
        allow_insecure: table.allow_insecure,
        tools: match table.tools {
            ToolCallsWord::Native => ToolCalls::Native,
            ToolCallsWord::JsonSchema => ToolCalls::JsonSchema,
            ToolCallsWord::Auto => ToolCalls::Auto,
        },
        prices,
        ..default
    };
    Ok(Arc::new(RemoteModel::new(options)?))
}

/// The tools of every source that the file names, in a fixed order: core sets, catalogs, mocks.
fn tools(
    table: &ToolsTable,
    folder: &Path,
    resolvers: &Resolvers,
    entered: &BTreeMap<String, u32>,
) -> Result<Vec<ToolSpec>, AssemblyError> {
    let entered_before = |name: &str| entered.get(name).copied().unwrap_or(0);
    let mut specs = Vec::new();
    if table.core.contains(&CoreSet::Read) {
        let root = Root::open(folder.join(table.root.as_deref().unwrap_or(".")))?;
        specs.extend(read_tools(&Arc::new(root))?);
    }
    for catalog in &table.catalog {
        specs.extend(Catalog::load(&folder.join(catalog))?.into_specs(resolvers, &entered_before)?);
    }
    for mock in table.mock.iter().cloned() {
        let before = entered_before(mock.name());
        specs.push(mock.into_spec(folder, before)?);
    }
    Ok(specs)
}

/// Registers the tools that servers offer now. One that cannot be is left out alone.
fn take_in(
    servers: &Servers,
    registry: &Registry,
    redactor: &dyn Redactor,
    warnings: &mut Vec<String>,
) -> BTreeMap<String, BTreeSet<String>> {
    let mut owned = BTreeMap::new();
    for (server, tools) in servers.tools() {
        let names: &mut BTreeSet<String> = owned.entry(server.clone()).or_default();
        for spec in tools {
            let name = spec.name().to_owned();
            let taken = check_shown(&spec, redactor).and_then(|()| Ok(registry.register(spec)?));
            match taken {
                Ok(()) => drop(names.insert(name)),
                Err(error) => {
                    servers.left_out(&server, &name, error.to_string());
                }
            }
        }
    }
    for (server, status) in servers.statuses() {
        if status.state != Condition::Ready {
            let why = status.reason.unwrap_or_default();
            warnings.push(format!("MCP server `{server}` is {}: {why}", status.state.word()));
        }
        warnings.extend(
            status
                .quarantined
                .iter()
                .map(|(tool, why)| format!("`{tool}` of MCP server `{server}` is left out: {why}")),
        );
    }
    owned
}

/// What the subject may see, within `allow`.
fn discover(registry: &Registry, subject: &Subject, table: &ToolsTable, warnings: &mut Vec<String>) -> Discovery {
    // What servers have beside tools is no model's to list.
    let mut discovery = registry.discover(subject).without_sources(Beside::is_source);
    if let Some(allow) = &table.allow {
        let names = registry.names();
        for rule in allow {
            if !names.iter().any(|name| lockgate_registry::discovery::matches_rule(rule, name)) {
                warnings.push(format!("`tools.allow` names `{rule}`, and no tool has this name"));
            }
        }
        discovery = discovery.only(allow);
    }
    if discovery.standing() == Standing::NothingVisible {
        warnings.push(
            "the subject sees none of the registered tools: look at `tools.allow`, `[subject]` and `[policy]`"
                .to_owned(),
        );
    }
    discovery
}

/// The key that signs decisions, where there is one. A key that cannot be used stops everything: nothing is left unsigned in
/// silence.
fn sign_key(table: &JournalTable, folder: &Path) -> Result<Option<SigningKey>, AssemblyError> {
    let (place, text) = match (&table.sign_key_env, &table.sign_key_file) {
        (Some(variable), _) => (variable.clone(), std::env::var(variable).map_err(|error| error.to_string())),
        (None, Some(file)) => {
            let path = folder.join(file);
            (path.display().to_string(), lockgate_host::files::read_to_string(&path).map_err(|error| error.to_string()))
        }
        (None, None) => return Ok(None),
    };
    match text {
        Ok(text) => SigningKey::parse(&text).map(Some).map_err(|cause| AssemblyError::InvalidSignKey { place, cause }),
        Err(cause) => Err(AssemblyError::NoSignKey { place, cause }),
    }
}

/// Who is told: programs work in the file's folder, an absolute path. A webhook whose secret is not set is left out: nothing
/// leaves unsigned.
fn targets(tables: &[NotifyTable], folder: &Path) -> Result<Vec<Target>, TargetError> {
    let mut targets = Vec::new();
    for table in tables {
        match table.by() {
            Ok(NotifyBy::Webhook { url, secret_env }) => {
                let secret = std::env::var(secret_env).unwrap_or_default();
                if !secret.is_empty() {
                    targets.push(Target::Webhook(Webhook::new(url, secret, table.timeout())?));
                }
            }
            Ok(NotifyBy::Command(command)) => {
                let program = Program::new(command.to_vec(), table.env.clone(), table.timeout())?;
                targets.push(Target::Program(program.in_folder(folder)));
            }
            // INVARIANT: a run file that says both or neither is not read.
            Err(_) => {}
        }
    }
    Ok(targets)
}

fn unknown_fields(table: &GateTable) -> UnknownFields {
    match table.unknown_fields {
        UnknownFieldsRule::AsDeclared => UnknownFields::AsDeclared,
        UnknownFieldsRule::Refuse => UnknownFields::Refuse,
    }
}

fn gate_options(file: &RunFile) -> GateOptions {
    let default = GateOptions::default();
    GateOptions {
        call_timeout: file.gate.call_timeout.map_or(default.call_timeout, TimeSpan::as_duration),
        max_output_bytes: file.gate.max_output_bytes.unwrap_or(default.max_output_bytes),
        argument_errors: match file.gate.argument_errors {
            ArgumentErrorsRule::Code => ArgumentErrors::Code,
            ArgumentErrorsRule::DeclaredPaths => ArgumentErrors::DeclaredPaths,
        },
        approval_expires: file.approvals.expires.map_or(default.approval_expires, TimeSpan::as_duration),
        approval_max_expires: file.approvals.max_expires(),
        approvers: file.approvals.approvers(),
        tell_reasons: file.approvals.tell_reasons,
        keep_keys: file.gate.keep_idempotency_keys.map_or(default.keep_keys, TimeSpan::as_duration),
        quotas: file.quota.iter().map(QuotaTable::quota).collect(),
        environment: file.gate.environment.clone(),
        ..default
    }
}
