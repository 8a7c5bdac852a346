//! `docs/where-is.md`: for every stage, outcome and event its file, its page, who makes it, and a test.
//!
//! Makers are read off the sources: a file makes what it names outside of a pattern or a comparison.

use std::fmt::Write as _;
use std::path::Path;

use lockgate::contract::event::{CATALOGUE, EventType};
use lockgate::contract::outcome::TABLE;

use super::checked_in;

/// The stages in their order, each with tests that show what it does.
const STAGES: [(&str, &[&str]); 8] = [
    ("proposed", &["lockgate/tests/it/cases/args_malformed.rs", "lockgate/tests/it/cases/numbers.rs"]),
    ("resolved", &["lockgate/tests/it/cases/allow_list.rs", "lockgate/tests/it/cases/names.rs"]),
    ("validated", &["lockgate/tests/it/cases/schema_dialect.rs"]),
    ("authorized", &["lockgate-executor/tests/it/authority.rs", "lockgate-executor/tests/it/relaxation.rs"]),
    ("recorded", &["lockgate-executor/tests/it/approvals.rs", "lockgate-executor/tests/it/faults.rs"]),
    ("ran", &["lockgate-executor/tests/it/handlers.rs", "lockgate-executor/tests/it/time_outs.rs"]),
    ("checked", &["lockgate-executor/tests/it/output.rs"]),
    ("released", &["lockgate-executor/tests/it/secrets.rs", "lockgate/tests/it/cases/limits.rs"]),
];

/// Where outcomes and events are made.
const MAKERS: [&str; 4] =
    ["lockgate-executor/src", "lockgate-harness/src", "lockgate-journal/src", "lockgate-contract/src/ports"];

/// Where they are tested: the first file that names one is its test, one of a crate that makes it before all others.
const TESTS: [&str; 9] = [
    "lockgate-executor/tests/it/outcomes/before_the_handler.rs",
    "lockgate-executor/tests/it/outcomes",
    "lockgate-executor/tests/it",
    "lockgate-executor/src",
    "lockgate-harness/tests/it/runs.rs",
    "lockgate-harness/tests/it",
    "lockgate-harness/src",
    "lockgate-journal/tests/it",
    "lockgate-journal/src",
];

#[test]
fn where_is() {
    let is_test = |path: &str| path.contains("/tests");
    let makes_none = |path: &str| is_test(path) || ["/check/", "/sketch"].iter().any(|part| path.contains(part));
    let makers: Vec<_> =
        MAKERS.iter().flat_map(|folder| files(folder)).filter(|file| !makes_none(&file.path)).collect();
    let tests: Vec<_> = TESTS.iter().flat_map(|folder| files(folder)).filter(|file| is_test(&file.path)).collect();
    let mut text = include_str!("where_is_intro.md").to_owned();

    text.push_str("## Stages\n\n| stage | made in | ends calls with | tests |\n|---|---|---|---|\n");
    for (stage, tests) in STAGES {
        let codes = TABLE.iter().filter(|row| row.stage.split(", ").any(|one| one == stage));
        let codes: Vec<_> = codes.map(|row| format!("[{word}](outcomes/{word}.md)", word = row.word)).collect();
        let _ = writeln!(
            text,
            "| {stage} | {} | {} | {} |",
            link(&format!("lockgate-executor/src/{stage}.rs")),
            codes.join(", "),
            tests.iter().map(|path| link(path)).collect::<Vec<_>>().join(", "),
        );
    }

    text.push_str("\n## Outcomes\n\n| code | made in | test |\n|---|---|---|\n");
    for row in TABLE {
        let made = made_in(&makers, &format!("Code::{:?}", row.code));
        let _ = writeln!(
            text,
            "| [{word}](outcomes/{word}.md) | {} | {} |",
            links(&made),
            test_of(&tests, row.word, &made),
            word = row.word
        );
    }

    text.push_str("\n## Events\n\n| type | its data | appended in | test |\n|---|---|---|---|\n");
    for (kind, word, ..) in CATALOGUE {
        let (variant, data) = match kind {
            EventType::RunStarted => ("RunStarted".to_owned(), "RunStart".to_owned()),
            EventType::ToolFinished | EventType::ToolFailed => ("Settled".to_owned(), "Settled".to_owned()),
            other => (format!("{other:?}"), format!("{other:?}")),
        };
        let declaration = format!("pub struct {data} {{");
        let declared =
            files("lockgate-contract/src").into_iter().find(|file| file.text.contains(&declaration)).unwrap();
        let made = made_in(&makers, &format!("Body::{variant}"));
        let _ = writeln!(
            text,
            "| `{word}` | [`{data}`](../crates/{}) | {} | {} |",
            declared.path,
            links(&made),
            test_of(&tests, word, &made),
        );
    }
    checked_in("docs/where-is.md", &text);
}

/// A source file; its path begins with the crate.
struct File {
    path: String,
    text: String,
}

impl File {
    fn krate(&self) -> Option<&str> {
        self.path.split('/').next()
    }
}

/// The sources below a folder of `crates`, by path.
fn files(path: &str) -> Vec<File> {
    let full = crates().join(path);
    if full.is_dir() {
        let mut names: Vec<_> = std::fs::read_dir(full).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        return names.iter().flat_map(|name| files(&format!("{path}/{}", name.to_str().unwrap()))).collect();
    }
    let is_source = full.extension().is_some_and(|extension| extension == "rs");
    is_source
        .then(|| File { path: path.to_owned(), text: std::fs::read_to_string(full).unwrap() })
        .into_iter()
        .collect()
}

fn crates() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn made_in<'f>(makers: &'f [File], name: &str) -> Vec<&'f File> {
    makers.iter().filter(|file| file.text.lines().any(|line| makes(line, name))).collect()
}

fn links(made: &[&File]) -> String {
    let links: Vec<_> = made.iter().map(|file| link(&file.path)).collect();
    if links.is_empty() { "[nowhere yet](later-work.md)".to_owned() } else { links.join(", ") }
}

/// Whether a line names it, and not as a pattern nor to compare with.
fn makes(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let compared = ["is(", "Outcome::Gate(", "let "].iter().any(|word| before.ends_with(word));
        !compared && !after.contains("=>") && !after.starts_with(char::is_alphanumeric)
    })
}

fn test_of(tests: &[File], word: &str, made: &[&File]) -> String {
    // Tests of the plan say of a run `stop: ` and how it ends.
    let names = [format!("\"{word}\""), format!("\"stop: {} ", word.trim_start_matches("run."))];
    let naming = || tests.iter().filter(|file| names.iter().any(|name| file.text.contains(name)));
    let beside = naming().find(|test| made.iter().any(|maker| maker.krate() == test.krate()));
    beside.or_else(|| naming().next()).map_or_else(|| "–".to_owned(), |file| link(&file.path))
}

fn link(path: &str) -> String {
    assert!(crates().join(path).is_file(), "{path} is not there");
    let (krate, rest) = path.split_once('/').unwrap();
    let name = rest.trim_start_matches("src/").trim_start_matches("tests/it/");
    format!("[{} `{name}`](../crates/{path})", krate.trim_start_matches("lockgate-"))
}
