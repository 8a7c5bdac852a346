//! Who decides whether a call may run: the engine that the table `[policy]` asks for.

use std::path::Path;
use std::sync::Arc;
#[cfg(feature = "cedar")]
use std::time::Duration;

#[cfg(any(feature = "cedar", feature = "http-policy"))]
use lockgate_config::PolicyMode;
#[cfg(feature = "http-policy")]
use lockgate_config::PolicyTable;
#[cfg(feature = "cedar")]
use lockgate_config::QuotaTable;
use lockgate_config::{PolicyEngineWord, RunFile};
use lockgate_contract::ports::{PolicyEngine, Redactor};
#[cfg(any(feature = "cedar", feature = "http-policy"))]
use lockgate_host::clock::SystemClock;
use lockgate_policy::NativePolicy;
#[cfg(any(feature = "cedar", feature = "http-policy"))]
use lockgate_policy::ShadowedPolicy;
#[cfg(feature = "cedar")]
use lockgate_policy::cedar::{CedarPolicy, RuleFiles, RulesRefused};
#[cfg(feature = "http-policy")]
use lockgate_policy::{DecisionPoint, DecisionPointError, DecisionPointOptions};
use lockgate_registry::Registry;

use super::error::AssemblyError;

/// Who decides whether a call may run.
pub(super) struct Policy {
    pub(super) engine: Arc<dyn PolicyEngine>,
    /// Who the table names, to be asked by whoever only wants to know the answer. A decision point is told that nothing follows.
    pub(super) named: Arc<dyn PolicyEngine>,
    #[cfg(feature = "cedar")]
    pub(super) cedar: Option<Arc<CedarPolicy>>,
}

impl Policy {
    pub(super) fn new(engine: Arc<dyn PolicyEngine>) -> Self {
        Self {
            named: Arc::clone(&engine),
            engine,
            #[cfg(feature = "cedar")]
            cedar: None,
        }
    }

    /// What the table asks for.
    #[cfg_attr(
        not(all(feature = "cedar", feature = "http-policy")),
        expect(unused_variables, reason = "an engine that this build does not have needs nothing")
    )]
    pub(super) fn of(
        file: &RunFile,
        folder: &Path,
        registry: &Registry,
        redactor: &Arc<dyn Redactor>,
    ) -> Result<Self, AssemblyError> {
        let table = &file.policy;
        match table.engine {
            PolicyEngineWord::Native => Ok(Self::new(Arc::new(NativePolicy::new()))),
            #[cfg(feature = "cedar")]
            PolicyEngineWord::Cedar => Ok(Self::cedar(file, folder, registry)?),
            #[cfg(feature = "http-policy")]
            PolicyEngineWord::Http => Ok(Self::http(table, redactor)?),
            #[cfg(not(feature = "cedar"))]
            PolicyEngineWord::Cedar => Err(AssemblyError::NoEngine { engine: "cedar", feature: "cedar" }),
            #[cfg(not(feature = "http-policy"))]
            PolicyEngineWord::Http => Err(AssemblyError::NoEngine { engine: "http", feature: "http-policy" }),
        }
    }

    #[cfg(feature = "cedar")]
    fn cedar(file: &RunFile, folder: &Path, registry: &Registry) -> Result<Self, RulesRefused> {
        let table = &file.policy;
        let counts = file.quota.iter().filter_map(QuotaTable::count).collect();
        let files = RuleFiles::new(folder, table.files.iter().cloned());
        let tools = registry.tools();
        let rules = CedarPolicy::read(files, tools.iter().map(|tool| tool.spec()), counts, Arc::new(SystemClock))?;
        Ok(match table.mode {
            PolicyMode::Enforce => {
                let cedar = Arc::new(rules);
                Self { cedar: Some(Arc::clone(&cedar)), ..Self::new(cedar) }
            }
            PolicyMode::Shadow => {
                let cedar = Arc::new(rules.in_shadow());
                let engine = ShadowedPolicy::new(NativePolicy::new(), Arc::clone(&cedar), AT_ONCE);
                Self {
                    engine: Arc::new(engine),
                    named: Arc::clone(&cedar) as Arc<dyn PolicyEngine>,
                    cedar: Some(cedar),
                }
            }
        })
    }

    #[cfg(feature = "http-policy")]
    fn http(table: &PolicyTable, redactor: &Arc<dyn Redactor>) -> Result<Self, DecisionPointError> {
        let mut options = DecisionPointOptions::new(table.url.clone().unwrap_or_default());
        options.token_variable.clone_from(&table.token_env);
        options.allow_insecure = table.allow_insecure;
        options.timeout = table.timeout();
        let point = DecisionPoint::new(options, Arc::clone(redactor), Arc::new(SystemClock))?;
        let tried = Arc::new(point.clone().in_shadow());
        let engine: Arc<dyn PolicyEngine> = match table.mode {
            PolicyMode::Enforce => Arc::new(point),
            PolicyMode::Shadow => {
                Arc::new(ShadowedPolicy::new(NativePolicy::new(), Arc::clone(&tried), table.timeout()))
            }
        };
        Ok(Self { engine, ..Self::new(tried) })
    }
}

/// Rules in this process answer without waiting for anything.
#[cfg(feature = "cedar")]
const AT_ONCE: Duration = Duration::from_secs(1);
