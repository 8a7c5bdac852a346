//! The inputs that fuzzing kept (`docs/fuzzing.md`), and those that it starts from: each goes the way again that it goes
//! there.

#[expect(unreachable_pub, reason = "the fuzzers' crate exports it")]
#[path = "../../../../fuzz/src/lib.rs"]
mod targets;

use std::fmt::Display;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use targets::{TARGETS, files};

/// Where `cargo xtask fuzz` wants the seeds.
const SEEDS: &str = "LOCKGATE_SEEDS";

#[expect(clippy::disallowed_methods, reason = "the corpus is checked in")]
fn replay(name: &str) {
    let root = root();
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
    let hold = |input: &[u8], which: &dyn Display| {
        catch_unwind(|| (target.run)(input)).unwrap_or_else(|_| panic!("{which} does not hold"));
    };
    for (index, input) in seeds.iter().enumerate() {
        hold(input, &format!("seed {index} of {name}"));
    }
    for file in corpus {
        hold(&std::fs::read(&file).unwrap(), &file.display());
    }
}

/// Where this checkout is.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn names() -> Vec<&'static str> {
    TARGETS.iter().map(|target| target.name).collect()
}

/// Each has a program, and each program is built and runs the target of its name.
#[test]
#[expect(clippy::disallowed_methods, reason = "the fuzzers are checked in")]
fn every_target_is_fuzzed() {
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let programs = files(&root().join("fuzz/fuzz_targets"), ".rs");
    assert_eq!(programs.iter().map(|path| path.file_stem().unwrap()).collect::<Vec<_>>(), names());
    for (program, name) in programs.iter().zip(names()) {
        assert!(read(program).contains(&format!("lockgate_fuzz::{name}::run(bytes)")), "{name}");
    }
    let manifest = read(&root().join("fuzz/Cargo.toml"));
    let built = |name| format!("[[bin]]\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
    assert!(names().into_iter().map(built).all(|bin| manifest.contains(&bin)), "{manifest}");
    assert_eq!(manifest.matches("[[bin]]").count(), names().len());
}

macro_rules! replayed {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })+

        #[test]
        fn every_target_is_replayed() {
            assert_eq!(names(), [$(stringify!($name)),+]);
        }
    };
}

replayed! { arguments assembly catalog catalog_rows journal_export journal_rows redaction run_file schema script }
