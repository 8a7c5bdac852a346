//! Texts of an ordinary day hold no secret: of 10,000 lines less than one may change.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lockgate_contract::ports::Redactor as _;
use lockgate_redact::{Scrubber, ScrubberBuilder};

/// Numbers that are the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    fn of<'t>(&mut self, words: &[&'t str]) -> &'t str {
        words[usize::try_from(self.below(words.len() as u64)).unwrap()]
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| u8::try_from(self.below(256)).unwrap()).collect()
    }

    fn hex(&mut self, digits: usize) -> String {
        (0..digits).map(|_| char::from_digit(u32::try_from(self.below(16)).unwrap(), 16).unwrap()).collect()
    }

    fn uuid(&mut self) -> String {
        [8, 4, 4, 4, 12].map(|digits| self.hex(digits)).join("-")
    }
}

const WORDS: &[&str] = &[
    "fix",
    "token",
    "the",
    "parser",
    "of",
    "password",
    "fields",
    "key",
    "lookup",
    "in",
    "api",
    "session",
    "cache",
    "and",
    "secret",
    "santa",
    "passes",
    "authorization",
    "docs",
    "for",
    "basic",
    "cookies",
    "update",
    "tests",
    "bearer",
    "monkey",
    "keys",
    "no",
];

fn sentence(numbers: &mut Numbers) -> String {
    let count = 3 + numbers.below(9);
    (0..count).map(|_| numbers.of(WORDS)).collect::<Vec<_>>().join(" ")
}

fn hashes(numbers: &mut Numbers) -> String {
    let mut text = String::new();
    for number in 0..10_000 {
        let digits = [32, 40, 56, 64, 96, 128][number % 6];
        let _ = match number % 5 {
            0 => writeln!(text, "{}  dist/bundle-{}.js", numbers.hex(digits), numbers.hex(8)),
            1 => writeln!(text, "sha256:{}", numbers.hex(64)),
            2 => writeln!(text, "    \"integrity\": \"sha512-{}\",", STANDARD.encode(numbers.bytes(64))),
            3 => writeln!(text, "checksum = \"{}\"", numbers.hex(64)),
            _ => writeln!(text, "index {}..{} 100644", numbers.hex(10), numbers.hex(10)),
        };
    }
    text
}

fn uuids(numbers: &mut Numbers) -> String {
    let mut text = String::new();
    for number in 0..10_000 {
        let uuid = numbers.uuid();
        let _ = match number % 5 {
            0 => writeln!(text, "2026-11-30T10:{:02}:00Z INFO request_id={uuid} status=200", number % 60),
            1 => writeln!(
                text,
                "{{\"id\":\"{uuid}\",\"trace_id\":\"{}\",\"span_id\":\"{}\"}}",
                numbers.hex(32),
                numbers.hex(16)
            ),
            2 => writeln!(text, "GET /v1/items/{uuid}?page=2&limit=50&next_page_token={number} HTTP/1.1"),
            3 => writeln!(text, "run-{} call-{number}.1 {uuid}", numbers.hex(12)),
            _ => writeln!(text, "  - name: worker-{}\n    uid: {uuid}", numbers.hex(10)),
        };
    }
    text
}

fn images(numbers: &mut Numbers) -> String {
    let mut text = String::new();
    for number in 0..200 {
        let size = 500 + usize::try_from(numbers.below(8000)).unwrap();
        let image = STANDARD.encode(numbers.bytes(size));
        if number % 2 == 0 {
            let _ = writeln!(text, "![figure](data:image/png;base64,{image})");
        } else {
            for row in image.as_bytes().chunks(76) {
                let _ = writeln!(text, "{}", std::str::from_utf8(row).unwrap());
            }
        }
    }
    text
}

fn git_logs(numbers: &mut Numbers) -> String {
    let mut text = String::new();
    for number in 0..4000 {
        let _ = writeln!(text, "commit {}\nAuthor: A Person <a.person@example.com>", numbers.hex(40));
        let _ = writeln!(text, "Date:   Mon Nov 30 10:00:{:02} 2026 +0000\n", number % 60);
        let _ = writeln!(text, "    {}\n\n    {}\n", sentence(numbers), sentence(numbers));
        let _ = writeln!(text, " src/{}.rs | {} ++--", numbers.of(WORDS), numbers.below(90));
    }
    text
}

/// Every Rust source of this repository, without those that plant secrets in order to find them.
#[expect(clippy::disallowed_methods, reason = "a test reads real files")]
fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                walk(&path, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                found.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    walk(&root, &mut paths);
    paths.sort();
    let planted = |path: &Path| {
        let is_test = path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
        is_test || path.starts_with(root.join("lockgate-redact"))
    };
    paths.retain(|path| !planted(path));
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// The lines that change, and how many lines there were.
fn changed(scrubber: &Scrubber, text: &str) -> (Vec<String>, usize) {
    let whole = scrubber.scrub(text);
    if whole == text {
        return (Vec::new(), text.lines().count());
    }
    let lines = text.lines().filter(|line| scrubber.scrub(line) != *line).map(str::to_owned).collect::<Vec<_>>();
    assert!(!lines.is_empty(), "something changes that is in no line alone");
    (lines, text.lines().count())
}

#[test]
fn of_ten_thousand_ordinary_lines_less_than_one_changes() {
    let scrubber = ScrubberBuilder::new().build().unwrap();
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let mut corpus = vec![
        ("hashes".to_owned(), hashes(&mut numbers)),
        ("uuids".to_owned(), uuids(&mut numbers)),
        ("images".to_owned(), images(&mut numbers)),
        ("git logs".to_owned(), git_logs(&mut numbers)),
    ];
    corpus.extend(sources().into_iter().map(|(path, text)| (path.display().to_string(), text)));
    let (mut all, mut wrong) = (0, Vec::new());
    for (name, text) in &corpus {
        let (lines, count) = changed(&scrubber, text);
        all += count;
        wrong.extend(lines.into_iter().map(|line| format!("{name}: {line}")));
    }
    assert!(all > 100_000, "{all} lines are too few to tell");
    assert!(wrong.len() * 10_000 < all, "{} of {all} lines change:\n{}", wrong.len(), wrong.join("\n"));
}
