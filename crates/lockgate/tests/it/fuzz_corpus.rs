//! The inputs that fuzzing kept (`docs/fuzzing.md`), and those that it starts from: each goes the way again that it goes
//! there.

#[expect(unreachable_pub, reason = "the fuzzers' crate exports it")]
#[path = "../../../../fuzz/src/lib.rs"]
mod targets;

use std::panic::catch_unwind;
use std::path::Path;

use targets::{TARGETS, files};

/// Where `cargo xtask fuzz` wants the seeds.
const SEEDS: &str = "LOCKGATE_SEEDS";

#[expect(clippy::disallowed_methods, reason = "the corpus is checked in")]
fn replay(name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let seeds = (target.seeds)(&root);
    if let Some(folder) = std::env::var_os(SEEDS) {
        let folder = Path::new(&folder).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for (index, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(index.to_string()), seed).unwrap();
        }
        return;
    }
    let corpus = files(&root.join("fuzz/corpus").join(name), "");
    assert!(!seeds.is_empty() && !corpus.is_empty());
    for input in &seeds {
        (target.run)(input);
    }
    for file in corpus {
        let input = std::fs::read(&file).unwrap();
        catch_unwind(|| (target.run)(&input)).unwrap_or_else(|_| panic!("{} does not hold", file.display()));
    }
}

macro_rules! replayed {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })+

        #[test]
        fn every_target_is_replayed() {
            assert_eq!(TARGETS.iter().map(|target| target.name).collect::<Vec<_>>(), [$(stringify!($name)),+]);
        }
    };
}

replayed! { arguments assembly catalog catalog_rows journal_export journal_rows redaction run_file schema script }
