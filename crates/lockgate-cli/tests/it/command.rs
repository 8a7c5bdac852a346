//! The command in a folder of its own, and what it prints with every id and time in a fixed form.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use regex::{Captures, Regex};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with the fixtures, in which the command runs.
pub(crate) struct Desk {
    folder: TempDir,
}

/// What one command did.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    typed: String,
}

impl Desk {
    /// A folder with nothing in it.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn new() -> Self {
        let desk = Self::empty();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        for fixture in std::fs::read_dir(fixtures).unwrap() {
            let fixture = fixture.unwrap();
            std::fs::copy(fixture.path(), desk.folder.path().join(fixture.file_name())).unwrap();
        }
        desk
    }

    /// A folder with the incident example where the checkout has it. What its tools count and journal stays in the copy.
    pub(crate) fn with_example() -> Self {
        let desk = Self::empty();
        let example = "examples/incident";
        std::fs::create_dir_all(desk.path(example)).unwrap();
        for file in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(example)).unwrap() {
            let file = file.unwrap();
            let is_input = file.path().extension().is_some_and(|kind| kind == "toml" || kind == "json");
            if is_input {
                std::fs::copy(file.path(), desk.path(example).join(file.file_name())).unwrap();
            }
        }
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// How often a handler with a `count_file` was entered.
    pub(crate) fn entered(&self, count_file: &str) -> usize {
        std::fs::read(self.path(count_file)).map_or(0, |bytes| bytes.len())
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_lockgate"), arguments)
    }

    /// A line for the shell, which finds the command by its name. `exit_code` is what `$?` says first.
    #[cfg(unix)]
    pub(crate) fn shell(&self, line: &str, exit_code: i32) -> Done {
        let mut command = self.program("sh", &["-c", &format!("(exit {exit_code}); {line}")]);
        let mut folders = vec![Path::new(env!("CARGO_BIN_EXE_lockgate")).parent().unwrap().to_owned()];
        folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        command.env("PATH", std::env::join_paths(folders).unwrap());
        Done::of(&[line], &command.output().unwrap())
    }

    fn program(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LOCKGATE_LOG", "LOCKGATE_LOG_FORMAT", "COLUMNS"] {
            command.env_remove(variable);
        }
        command.env("USER", "alice");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        Done::of(arguments, &self.command(arguments).output().unwrap())
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Done {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Done::of(arguments, &child.wait_with_output().unwrap())
    }
}

impl Done {
    pub(crate) fn of(arguments: &[&str], output: &Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
            typed: arguments.join(" "),
        }
    }

    /// The one JSON value on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.whole()))
    }

    /// The JSON values on stdout, one a line.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Everything, with ids, digests and times in a fixed form.
    pub(crate) fn whole(&self) -> String {
        let mut whole = format!("$ lockgate {}\nexit code {:?}\n", self.typed, self.code.unwrap_or(-1));
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                let _ = write!(whole, "----- {name}\n{text}");
            }
        }
        FixedForm::default().of(&whole)
    }
}

/// The form in which texts are compared: the folder has one name, ids are numbered as they appear, times stand still; what
/// stands in tables keeps its width.
#[derive(Default)]
pub(crate) struct FixedForm {
    /// The ids that appeared, each with its number.
    seen: Vec<(String, String)>,
}

/// How ids begin, and their digits.
const IDS: [(&str, usize); 5] = [("run-", 12), ("apr-", 16), ("art-", 16), ("err-", 12), ("sha256:", 64)];

impl FixedForm {
    pub(crate) fn of(&mut self, text: &str) -> String {
        let desk = Regex::new(r"(/[^\s`'/]+)*/\.tmp[A-Za-z0-9]+").unwrap();
        let text = desk.replace_all(text, "/DESK").into_owned();
        let text = IDS.iter().fold(text, |text, (prefix, digits)| self.numbered(&text, prefix, *digits));
        let time = Regex::new(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z").unwrap();
        let text = time.replace_all(&text, "2026-11-29T10:00:00.000Z");
        let left = Regex::new(r" \(in [0-9]+[hms]( [0-9]+[ms])?\)").unwrap();
        let text = left.replace_all(&text, " (in 59m 59s)");
        let process = Regex::new("process [0-9]+").unwrap();
        let text = process.replace_all(&text, "process 1");
        let spent =
            Regex::new(r#""(proposed|resolved|validated|authorized|recorded|ran|checked|released)":[0-9]+"#).unwrap();
        spent.replace_all(&text, r#""$1":0"#).into_owned()
    }

    /// The text with the ids that stand behind the numbers.
    #[cfg(unix)]
    pub(crate) fn with_ids(&self, text: &str) -> String {
        self.seen.iter().fold(text.to_owned(), |text, (id, number)| text.replace(number, id))
    }

    fn numbered(&mut self, text: &str, prefix: &str, digits: usize) -> String {
        let number = |found: &Captures<'_>| {
            if let Some((_, number)) = self.seen.iter().find(|(id, _)| *id == found[0]) {
                return number.clone();
            }
            let next = 1 + self.seen.iter().filter(|(id, _)| id.starts_with(prefix)).count();
            let number = format!("{prefix}{next:0digits$}");
            self.seen.push((found[0].to_owned(), number.clone()));
            number
        };
        Regex::new(&format!("{prefix}[0-9a-f]{{{digits}}}")).unwrap().replace_all(text, number).into_owned()
    }
}
