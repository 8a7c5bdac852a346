//! One definition, many outputs: the checked-in files that are made from tables and types.
//!
//! Each test fails when its file drifts. `cargo xtask generate` runs them with `LOCKGATE_GENERATE=1`, which writes instead.

#![expect(clippy::disallowed_methods, reason = "generated files are written and compared")]

mod where_is;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lockgate::contract::event::{CATALOGUE, View};
use lockgate::contract::outcome::{Row, TABLE};
use lockgate::harness::check::{self, Defect, Export, Invariant};

/// Compares a generated file with the checked-in one, or writes it.
fn checked_in(path: &str, text: &str) {
    let full: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("LOCKGATE_GENERATE").is_some() {
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(&full, text).unwrap();
    }
    let found = std::fs::read_to_string(&full).unwrap_or_default();
    assert!(found == text, "{path} is not up to date: run `cargo xtask generate`");
}

#[test]
fn outcome_pages() {
    let mut index = String::from(
        "# Outcomes\n\nEvery requested call is settled exactly once, in exactly one of these rows, or with a code of the tool's \
         own.\n`lockgate explain CODE` prints the same. Generated from `lockgate_contract::outcome`.\n\n\
         | code | stage | status | effect afterwards | try again? |\n|---|---|---|---|---|\n",
    );
    for row in TABLE {
        let _ = writeln!(
            index,
            "| [{word}]({word}.md) | {} | {} | {} | {} |",
            row.stage,
            row.status,
            row.effect.words(),
            row.retry.words(),
            word = row.word,
        );
        checked_in(&format!("docs/outcomes/{}.md", row.word), &outcome_page(row));
    }
    checked_in("docs/outcomes/README.md", &index);
}

fn outcome_page(row: &Row) -> String {
    format!(
        "# {}\n\n{}\n\n- **Stage**: {}\n- **Counts as**: {}\n- **Effect afterwards**: {}\n- **Worth trying again**: {}\n- **The \
         model is told**: {}\n\n{}\n",
        row.word,
        row.meaning,
        row.stage,
        row.status,
        row.effect.words(),
        row.retry.words(),
        row.model_text,
        row.remedy,
    )
}

#[test]
fn event_catalogue() {
    let mut text = String::from(
        "# Events\n\nWhat a run's journal holds. The protocol view is what `lockgate run` prints by default; `--all` shows every \
         event.\nAn unknown type is kept and skipped, unless it steers runs (`run.*`, `call.*`): then a newer version is needed. \
         Generated from\n`lockgate_contract::event`.\n\n| type | version | view |\n|---|---|---|\n",
    );
    for (_, word, view, version) in CATALOGUE {
        let view = match view {
            View::Protocol => "protocol",
            View::Journal => "journal only",
        };
        let _ = writeln!(text, "| `{word}` | {version} | {view} |");
    }
    checked_in("docs/events.md", &text);
}

#[test]
fn run_file_schema() {
    let schema = serde_json::to_string_pretty(&lockgate::config::run_file_schema()).unwrap();
    checked_in("docs/schemas/run-file.schema.json", &format!("{schema}\n"));
}

#[test]
fn journal_page() {
    let mut text = include_str!("journal_intro.md").to_owned();
    text.push_str("| invariant | what holds | stands for |\n|---|---|---|\n");
    for invariant in Invariant::ALL {
        let (word, sentence) = (invariant.word(), invariant.sentence());
        let _ = writeln!(text, "| [`{word}`](#{word}) | {sentence} | {} |", invariant.requirements().join(", "));
    }
    for invariant in Invariant::ALL {
        let _ = write!(
            text,
            "\n### {}\n\n{}\n\n**Broken, it looks like this.** {}\n\n{}",
            invariant.word(),
            invariant.sentence(),
            invariant.breaking(),
            example(*invariant),
        );
    }
    checked_in("docs/journal.md", &text); // R-215
}

/// The most telling bad journal of an invariant: the named events, and those beside them.
#[expect(clippy::disallowed_methods, reason = "the corpus is checked in")]
fn example(invariant: Invariant) -> String {
    const TELLING: [&str; 6] = ["misplaced", "dropped", "doubled", "swapped", "truncated", "edited"];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/journals/bad");
    let file = |way: &str| folder.join(format!("{invariant}--{way}.jsonl"));
    // What is kept beside the events is in no list of events.
    let Some(way) = TELLING.into_iter().find(|way| file(way).exists()) else { return String::new() };
    let export = Export::read(&std::fs::read(file(way)).unwrap());
    let events = export.runs.iter().flat_map(|run| &run.events);
    let defects: Vec<Defect> = export.runs.iter().flat_map(|run| check::events(&run.events)).collect();
    let is_shown = |defect: &&Defect| defect.invariant == invariant;
    let defect = export.unreadable.iter().chain(&defects).find(is_shown).unwrap();
    let mut text = format!("`{invariant}--{way}.jsonl`:\n\n```text\n");
    for event in events {
        let named = defect.seqs.contains(&event.seq);
        if named || defect.seqs.iter().any(|seq| seq.abs_diff(event.seq) == 1) {
            let mark = if named { '>' } else { ' ' };
            let place = event.call_id.as_ref().map_or_else(|| format!("step {}", event.step), ToString::to_string);
            let _ = writeln!(text, "{mark} {:>2}  {:<24}{place}", event.seq, event.kind.word());
        }
    }
    let _ = writeln!(text, "{invariant}: {}\n```", defect.text);
    text
}
