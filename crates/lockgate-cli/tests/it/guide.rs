//! The guide: what it shows of the command is what the command prints, and what it points to is there.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::command::{Desk, FixedForm};

/// A page of `docs/guide`.
struct Page {
    path: PathBuf,
    text: String,
}

/// A fenced block of a page.
struct Block<'p> {
    language: &'p str,
    /// The file whose content it is: `` `name`: `` stands above it.
    name: Option<&'p str>,
    text: String,
}

/// Each page has a folder of its own, with the files of all pages. Its commands run in order.
#[test]
fn consoles_show_what_is_printed() {
    let pages = Page::all();
    let mut commands = 0;
    for page in &pages {
        let desk = Desk::empty();
        for (name, text) in files(&pages) {
            desk.write(name, &text);
        }
        let mut form = FixedForm::default();
        let mut exit_code = 0;
        for block in page.blocks().iter().filter(|block| block.language == "console") {
            for (line, shown) in typed_and_shown(&block.text) {
                let place = format!("{}: `{line}`", page.name());
                assert!(exit_code == 0 || line == "echo $?", "{place}: exit code {exit_code} before it is not shown");
                let done = desk.shell(&form.with_ids(line), exit_code);
                let printed = form.of(&format!("{}{}", done.stdout, done.stderr));
                assert!(
                    fits(&shown, &printed.lines().collect::<Vec<_>>()),
                    "{place}\n----- shown\n{}\n----- printed\n{printed}",
                    shown.join("\n")
                );
                exit_code = done.code.unwrap();
                commands += 1;
            }
        }
        assert_eq!(exit_code, 0, "{}: the last exit code is not shown", page.name());
    }
    assert!(commands > 20, "only {commands} commands were found");
}

/// Rust is compiled by the façade's documentation tests; TOML, JSON and Cedar are files that a command or another file names.
#[test]
fn every_block_is_compiled_or_run() {
    let facade = std::fs::read_to_string(root().join("crates/lockgate/src/lib.rs")).unwrap();
    let pages = Page::all();
    for page in &pages {
        for block in page.blocks() {
            let is_used = match (block.language, block.name) {
                ("rust", None) => facade.contains(&format!("docs/guide/{}", page.name())),
                ("toml" | "json" | "cedar", Some(name)) => {
                    pages.iter().flat_map(Page::blocks).any(|other| other.text.contains(name))
                }
                ("console" | "text", None) => true,
                _ => false,
            };
            assert!(is_used, "{}: a block of `{}`\n{}", page.name(), block.language, block.text);
        }
    }
}

#[test]
fn what_it_points_to_is_there() {
    for page in Page::all() {
        let folder = page.path.parent().unwrap();
        for target in page.text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { page.path.clone() } else { folder.join(file) };
            assert!(path.exists(), "{}: {target}", page.name());
            let text = if heading.is_empty() { String::new() } else { std::fs::read_to_string(&path).unwrap() };
            let found = heading.is_empty() || text.lines().any(|line| line.starts_with('#') && anchor(line) == heading);
            assert!(found, "{}: {target}", page.name());
        }
        // The picture: a folder, then what lies in it.
        for line in page.blocks().iter().filter(|block| block.language == "text").flat_map(|block| block.text.lines()) {
            let mut words = line.split([' ', ':', ',']).skip_while(|word| !word.starts_with("crates/"));
            let folder = root().join(words.next().unwrap_or_default());
            assert!(folder.exists(), "{}", folder.display());
            for file in words.filter(|word| word.ends_with('/') || Path::new(word).extension().is_some()) {
                assert!(folder.join(file).exists(), "{}", folder.join(file).display());
            }
        }
    }
}

impl Page {
    fn all() -> Vec<Self> {
        let folder = std::fs::read_dir(root().join("docs/guide")).unwrap();
        let mut paths: Vec<_> = folder.map(|file| file.unwrap().path()).collect();
        paths.sort();
        paths.into_iter().map(|path| Self { text: std::fs::read_to_string(&path).unwrap(), path }).collect()
    }

    fn name(&self) -> Cow<'_, str> {
        self.path.file_name().unwrap().to_string_lossy()
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let (mut blocks, mut before) = (Vec::new(), "");
        let mut lines = self.text.lines();
        while let Some(line) = lines.next() {
            if let Some(language) = line.strip_prefix("```") {
                let text = lines.by_ref().take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
                let name = before.strip_prefix('`').and_then(|name| name.strip_suffix("`:"));
                blocks.push(Block { language, name, text });
            }
            if !line.is_empty() {
                before = line;
            }
        }
        blocks
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of all pages; a name means one file.
fn files(pages: &[Page]) -> Vec<(&str, String)> {
    let mut files: Vec<(&str, String)> = Vec::new();
    for block in pages.iter().flat_map(Page::blocks) {
        if let Some(name) = block.name {
            assert!(files.iter().all(|(other, _)| *other != name), "two files are called `{name}`");
            files.push((name, block.text));
        }
    }
    files
}

/// What is typed in a console, each with the lines that are shown behind it.
fn typed_and_shown(console: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in console.lines() {
        match line.strip_prefix("$ ") {
            Some(typed) => commands.push((typed, Vec::new())),
            None => commands.last_mut().unwrap().1.push(line),
        }
    }
    commands
}

/// Whether these lines were printed. `…` stands for lines that are left out, at the end of a line for the rest of it.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match (shown, printed) {
        ([], []) => true,
        (["…", rest @ ..], _) => (0..=printed.len()).any(|left_out| fits(rest, &printed[left_out..])),
        ([line, shown @ ..], [first, printed @ ..]) => {
            let same = line.strip_suffix('…').map_or(line == first, |start| first.starts_with(start));
            same && fits(shown, printed)
        }
        _ => false,
    }
}

/// A heading as links name it.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    words.chars().filter(|character| character.is_alphanumeric() || *character == '-').collect()
}
