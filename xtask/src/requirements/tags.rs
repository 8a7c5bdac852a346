//! The tags in the tests of every crate, and the tests that each belongs to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::source::{Item, Kind, Source};
use crate::files::{below, read};

/// What was found.
#[derive(Default)]
pub(super) struct Tags {
    /// Sorted by number and item, each once.
    pub(super) sound: Vec<Tag>,
    /// Tags in test code that no running test reaches.
    pub(super) stray: Vec<Place>,
    /// Every number in every source, comments of all kinds and texts included.
    pub(super) named: Vec<Place>,
}

/// A tag in a test, or in a function that tests share.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Tag {
    pub(super) number: String,
    /// `crate::module::function`.
    pub(super) item: String,
    /// The tests that reach the function; only itself, if it is one.
    pub(super) tests: BTreeSet<String>,
}

/// A number and where it stands: `path:line`.
pub(super) struct Place {
    pub(super) number: String,
    pub(super) place: String,
}

impl Tags {
    /// Reads every crate of the checkout whose tests carry requirements.
    pub(super) fn of(root: &Path) -> Result<Self, String> {
        let mut tags = Self::default();
        for folder in folders(root)? {
            for part in ["src", "tests"] {
                if folder.join(part).exists() {
                    let files = below(&folder.join(part), "rs")?;
                    tags.add(&Binary::read(root, &folder, part, files)?);
                }
            }
        }
        tags.sound.sort();
        tags.sound.dedup();
        Ok(tags)
    }

    fn add(&mut self, binary: &Binary) {
        let reached_by = binary.reached_by();
        for (index, (file, item)) in binary.items.iter().enumerate() {
            for note in &item.notes {
                for number in numbers(&note.text) {
                    let number = number.to_owned();
                    let tests: BTreeSet<_> = reached_by[index].iter().map(|test| binary.name(*test)).collect();
                    if tests.is_empty() {
                        self.stray.push(Place { number, place: format!("{file}:{}", note.line) });
                    } else {
                        self.sound.push(Tag { number, item: binary.name(index), tests });
                    }
                }
            }
        }
        self.stray
            .extend(binary.loose.iter().map(|(number, place)| Place { number: number.clone(), place: place.clone() }));
        self.named
            .extend(binary.named.iter().map(|(number, place)| Place { number: number.clone(), place: place.clone() }));
    }
}

/// The sources that are built into one test binary.
struct Binary {
    krate: String,
    /// Test code only: the file, and the item with its whole module path.
    items: Vec<(String, Item)>,
    loose: Vec<(String, String)>,
    named: Vec<(String, String)>,
}

impl Binary {
    fn read(root: &Path, folder: &Path, part: &str, files: Vec<PathBuf>) -> Result<Self, String> {
        let krate = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut binary = Self { krate, items: Vec::new(), loose: Vec::new(), named: Vec::new() };
        let (mut sources, mut test_modules) = (Vec::new(), BTreeSet::new());
        for path in files {
            let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            let text = read(&path)?;
            for (at, line) in (1..).zip(text.lines()) {
                binary.named.extend(numbers(line).map(|number| (number.to_owned(), format!("{shown}:{at}"))));
            }
            let module = module(&folder.join(part), &path);
            let source = Source::parse(&text);
            for inner in &source.test_modules {
                test_modules.insert([module.clone(), inner.clone()].concat());
            }
            sources.push((shown, module, source));
        }
        for (shown, module, source) in sources {
            let is_test = part == "tests" || (0..=module.len()).any(|end| test_modules.contains(&module[..end]));
            if is_test {
                for note in &source.loose {
                    let place = format!("{shown}:{}", note.line);
                    binary.loose.extend(numbers(&note.text).map(|number| (number.to_owned(), place.clone())));
                }
            }
            for mut item in source.items {
                if is_test || item.in_test_module {
                    item.path = [module.clone(), item.path].concat();
                    binary.items.push((shown.clone(), item));
                }
            }
        }
        Ok(binary)
    }

    fn name(&self, index: usize) -> String {
        format!("{}::{}", self.krate, self.items[index].1.path.join("::"))
    }

    /// For each item, the tests that reach it by the names that they mention.
    fn reached_by(&self) -> Vec<BTreeSet<usize>> {
        let mut by_name = BTreeMap::<&str, Vec<usize>>::new();
        for (index, (_, item)) in self.items.iter().enumerate() {
            if let (Kind::Shared, Some(name)) = (item.kind, item.path.last()) {
                by_name.entry(name).or_default().push(index);
            }
        }
        let makes_tests = |name: &str| {
            self.items
                .iter()
                .any(|(_, item)| item.kind == Kind::TestMacro && item.path.last().is_some_and(|last| last == name))
        };
        let used_by = |item: &Item| -> Vec<usize> {
            let found = item.mentions.iter().filter_map(|word| by_name.get(word.as_str())).flatten().copied();
            found.filter(|at| is_visible(&self.items[*at].1, item)).collect()
        };
        let used: Vec<_> = self.items.iter().map(|(_, item)| used_by(item)).collect();
        let mut reached_by = vec![BTreeSet::new(); self.items.len()];
        for (index, (_, item)) in self.items.iter().enumerate() {
            let name = item.path.last().map_or("", String::as_str);
            match item.kind {
                Kind::Test => reach(index, index, &used, &mut reached_by),
                // Each word of the input is a test of its own.
                Kind::Input if makes_tests(name) => {
                    used[index].iter().for_each(|at| reach(*at, *at, &used, &mut reached_by));
                }
                _ => {}
            }
        }
        reached_by
    }
}

fn reach(test: usize, at: usize, used: &[Vec<usize>], reached_by: &mut [BTreeSet<usize>]) {
    if reached_by[at].insert(test) {
        used[at].iter().for_each(|next| reach(test, *next, used, reached_by));
    }
}

/// What is private can be used in its own module and below it.
fn is_visible(item: &Item, user: &Item) -> bool {
    let module = |item: &Item| item.path.split_last().map_or_else(Vec::new, |(_, module)| module.to_vec());
    item.is_public || module(user).starts_with(&module(item))
}

/// The folders of the crates that have tests.
fn folders(root: &Path) -> Result<Vec<PathBuf>, String> {
    let crates = root.join("crates");
    let entries = std::fs::read_dir(&crates).map_err(|error| format!("{}: {error}", crates.display()))?;
    let mut folders: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.extend([root.join("proof/crash"), root.join("xtask")]);
    folders.sort();
    Ok(folders)
}

/// The module path of a file of one binary, as the test runner shows it.
fn module(folder: &Path, file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(folder).unwrap_or(file).with_extension("");
    let mut names: Vec<_> = inside.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    // `tests/it/main.rs` is the root of its binary, and its folder has no part in the names.
    if folder.ends_with("tests") && names.len() > 1 {
        names.remove(0);
    }
    names.pop_if(|name| ["lib", "main", "mod"].contains(&name.as_str()));
    names
}

/// The numbers in a text: `R-` and three digits.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("R-").filter_map(|(at, _)| {
        let digits = text[at + 2..].bytes().take_while(u8::is_ascii_digit).count();
        let is_whole = !text[..at].ends_with(|letter: char| letter.is_alphanumeric());
        (digits == 3 && is_whole).then(|| &text[at..at + 5])
    })
}
