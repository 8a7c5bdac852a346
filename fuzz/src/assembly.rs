//! A run file on its way to a gate and a runner: what `lockgate run` does before anything runs.

use std::sync::Arc;

use lockgate::assembly::{Assembly, Overrides};
use lockgate::harness::RunnerOptions;
use lockgate::prelude::{SystemClock, open_journal};

/// Puts the run file together, in a folder with a catalog, its rows, and a script. The journal is in memory.
pub fn run(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    super::write(&path, bytes);
    super::catalog::put_rows(folder.path());
    super::write(&folder.path().join("tools.toml"), include_str!("../../examples/incident/tools.toml"));
    super::write(&folder.path().join("turns.json"), include_str!("../../examples/incident/turns.json"));
    let journal = open_journal("memory:", Arc::new(SystemClock)).unwrap();
    match Assembly::load(&path, Overrides { journal: Some(journal), ..Overrides::default() }) {
        Ok(assembly) => {
            let subject = assembly.run_file.subject.subject();
            super::run_file::check(&assembly.registry, &subject, assembly.run_file.tools.allow.as_deref());
            for error in
                [assembly.runner(RunnerOptions::default()).err(), assembly.agent_run().err()].into_iter().flatten()
            {
                assert!(!error.to_string().is_empty());
                let _ = error.hint();
            }
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let _ = error.hint();
        }
    }
}
