//! What can be proved about rules, for every call that there could be.
//!
//! ```text
//!   rules ── the slice of a tool ──┐
//!                                  ├──► formula ──► solver: no such call ──► proved
//!   what holds of every call ──────┘                    a call ──► answered by the rules themselves as was said? ──► refuted
//!                                                                                                            else open
//! ```
//!
//! - *Nothing is refuted by the solver's word.* The call that it finds is written as an example, read again, made as plain as
//!   it can be, and decided by the rules as a call of a run would be. What is printed is what was decided.
//! - *Nothing is proved beyond what the formula says.* Cedar passes over a rule that fails, and Lockgate denies then; a number
//!   that Cedar cannot hold denies too; demands that contradict each other deny. Wherever that could make a proof wrong, it is
//!   asked for by itself, or the property stays open.
//! - *Numbers are any that there may be*, but for those that rules are used up by: where it matters how often a rule was used, the
//!   proof is about all of them and about none.
//! - *What an approval is worth is the gate's.* Rules see one that holds, or none: the proofs are about both.

mod calls;
mod case;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use lockgate_contract::ports::{Count, PolicyDecision};
use lockgate_host::children;
use thiserror::Error;

use self::case::Case;
use super::adapter::Solver;
use super::rules::Rules;

/// What is to be proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Property {
    /// Every rule can be evaluated for every call.
    NeverFails,
    /// No external call that its tool wants a person asked about is allowed without an approval, but by rules that apply so
    /// often only (`@uses`): a remembered approval is one for some calls.
    ExternalAsks,
    /// Some call of every tool is allowed or asked about.
    Reachable,
    /// Nothing is allowed that was not allowed before, and nothing is asked about that was denied before.
    NoWider,
}

/// What became of one property.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proof {
    /// Of which.
    pub property: Property,
    /// The tools that it is about.
    pub tools: Vec<String>,
    /// The tools that were left out, and why.
    pub set_apart: Vec<(String, &'static str)>,
    /// The rules that were left out, since they apply so often only, in words: `` `often` allows `pay` for 20 calls since … ``.
    pub left_out: Vec<String>,
    /// What shows that it does not hold.
    pub refuted: Vec<Counterexample>,
    /// What was not found out.
    pub open: Vec<Open>,
}

/// Whether a property holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// For every call.
    Proved,
    /// There is a call for which it does not.
    Refuted,
    /// It is not known.
    NotProved,
}

/// A call for which a property does not hold, or a tool that none of its calls reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counterexample {
    /// The tool.
    pub tool: String,
    /// What the rules answer, and the call as an `// expect:` example beside them would have it: `allow {"tool": "pay"}`. Nothing
    /// where no call reaches the tool.
    pub example: Option<String>,
    /// What the rules before answer to it.
    pub before: Option<PolicyDecision>,
    /// Why the rules answer so, for people.
    pub reason: String,
    /// The rules that determine it.
    pub rules: Vec<String>,
}

/// A tool for which a property was neither proved nor refuted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Open {
    /// The tool.
    pub tool: String,
    /// Why, for people.
    pub why: String,
}

/// There is no solver to ask.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("not proved: no solver: {0}")]
pub struct NoSolver(String);

/// Proves by a solver, cvc5.
#[derive(Debug, Clone)]
pub struct Prover {
    program: PathBuf,
    limit: Duration,
    exceptions: BTreeSet<String>,
    counts_before: Option<Vec<Count>>,
}

/// The variable that names the solver.
const VARIABLE: &str = "CVC5";

/// How long one answer may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How much room a proof has to recurse in. What is not used costs nothing.
const STACK: usize = 256 << 20;

impl Property {
    /// Every property, in the order of their proofs.
    pub const ALL: [Self; 4] = [Self::NeverFails, Self::ExternalAsks, Self::Reachable, Self::NoWider];

    /// As programs are told it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NeverFails => "never_fails",
            Self::ExternalAsks => "external_asks",
            Self::Reachable => "reachable",
            Self::NoWider => "no_wider",
        }
    }
}

impl Proof {
    fn new(property: Property) -> Self {
        let (tools, set_apart, left_out) = (Vec::new(), Vec::new(), Vec::new());
        Self { property, tools, set_apart, left_out, refuted: Vec::new(), open: Vec::new() }
    }

    /// Whether it holds. One call is enough to refute it, whatever else is not known.
    pub fn standing(&self) -> Standing {
        if !self.refuted.is_empty() {
            Standing::Refuted
        } else if self.open.is_empty() {
            Standing::Proved
        } else {
            Standing::NotProved
        }
    }
}

impl NoSolver {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "install cvc5 (`apt-get install cvc5`), or set CVC5 to the path of its program"
    }
}

impl Prover {
    /// With the solver that the variable `CVC5` names, or else with the program `cvc5` on `PATH`.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn find() -> Result<Self, NoSolver> {
        let program = match std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
            Some(named) => PathBuf::from(named),
            None => children::find("cvc5").ok_or_else(|| NoSolver("`cvc5` is not on PATH".to_owned()))?,
        };
        Ok(Self { program, limit: LIMIT, exceptions: BTreeSet::new(), counts_before: None })
    }

    /// One answer of the solver may take so long, in place of 10 s.
    #[must_use]
    pub fn with_limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// External tools that may be called without an approval, whatever they want themselves.
    #[must_use]
    pub fn with_exceptions(self, tools: impl IntoIterator<Item = String>) -> Self {
        Self { exceptions: tools.into_iter().collect(), ..self }
    }

    /// What the names of counts meant to the rules before, where that is not what they mean now.
    #[must_use]
    pub fn with_counts_before(self, counts: Vec<Count>) -> Self {
        Self { counts_before: Some(counts), ..self }
    }

    /// Proves, refutes or leaves open every property of these rules: in the order of [`Property::ALL`], the last of them only
    /// beside the rules before. Those are about the same tools ([`Rules::reload`]). Blocks until all is said.
    ///
    /// # Errors
    ///
    /// The solver cannot be started.
    pub fn prove(&self, rules: &Rules, before: Option<&Rules>) -> Result<Vec<Proof>, NoSolver> {
        let unable = |error: io::Error| NoSolver(format!("`{}` cannot be started: {error}", self.program.display()));
        // Formulas are walked by recursion, and rules may be nested as deeply as somebody likes.
        let thread = std::thread::Builder::new().name("prove".to_owned()).stack_size(STACK);
        std::thread::scope(|scope| {
            let proving = thread.spawn_scoped(scope, || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(async {
                    let mut solver = Solver::start(&self.program, self.limit)?;
                    Ok(self.prove_with(&mut solver, rules, before).await)
                })
            });
            match proving.map_err(unable)?.join() {
                Ok(proofs) => proofs.map_err(unable),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    async fn prove_with(&self, solver: &mut Solver, rules: &Rules, before: Option<&Rules>) -> Vec<Proof> {
        let properties =
            Property::ALL.into_iter().filter(|property| *property != Property::NoWider || before.is_some());
        let mut proofs: Vec<Proof> = properties.map(Proof::new).collect();
        for tool in rules.tools.iter() {
            let mut case = Case::new(rules, before, tool, solver, self);
            for proof in &mut proofs {
                if proof.property == Property::ExternalAsks && self.exceptions.contains(&tool.name) {
                    proof.set_apart.push((tool.name.clone(), "may be called without an approval, as was said"));
                } else {
                    case.prove(proof).await;
                }
            }
        }
        proofs
    }
}

#[cfg(test)]
mod tests;
