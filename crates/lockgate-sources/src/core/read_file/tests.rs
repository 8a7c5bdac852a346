use super::*;
use crate::core::workspace::Workspace;

fn ask(path: &str) -> ReadFile {
    ReadFile { path: path.into(), start_line: None, end_line: None, max_bytes: None }
}

fn range(path: &str, start_line: u64, end_line: u64) -> ReadFile {
    ReadFile { start_line: NonZeroU64::new(start_line), end_line: NonZeroU64::new(end_line), ..ask(path) }
}

fn code(workspace: &Workspace, arguments: ReadFile) -> &'static str {
    read_file(&workspace.root, arguments).unwrap_err().code()
}

#[test]
fn a_whole_file_comes_back_as_it_is() {
    let text = "fn main() {\r\n    println!(\"grüße\");\r\n}";
    let workspace = Workspace::with(&[("src/main.rs", text)]);
    let expected = FileText {
        path: "./src/main.rs".into(),
        text: text.into(),
        encoding: TextEncoding::Utf8,
        lossy: false,
        start_line: 1,
        end_line: 3,
        total_lines: Some(3),
        truncated: false,
        line_cut: false,
        size_bytes: text.len() as u64,
    };
    assert_eq!(read_file(&workspace.root, ask("./src/main.rs")).unwrap(), expected);
}

#[test]
fn a_range_is_given_without_a_word_about_the_rest() {
    let workspace = Workspace::with(&[("f", "1\n2\n3\n4\n5\n")]);
    let read = read_file(&workspace.root, range("f", 2, 3)).unwrap();
    assert_eq!((read.text.as_str(), read.start_line, read.end_line), ("2\n3\n", 2, 3));
    assert_eq!((read.total_lines, read.truncated), (Some(5), false));
    let clipped = read_file(&workspace.root, range("f", 4, 99)).unwrap();
    assert_eq!((clipped.text.as_str(), clipped.end_line, clipped.truncated), ("4\n5\n", 5, false));
}

#[test]
fn a_range_that_is_not_there_is_a_failure() {
    let workspace = Workspace::with(&[("f", "1\n2\n"), ("empty", "")]);
    assert_eq!(code(&workspace, range("f", 3, 0)), "line_not_found");
    assert_eq!(code(&workspace, range("f", 2, 1)), "invalid_range");
    assert_eq!(code(&workspace, range("empty", 2, 0)), "line_not_found");
    let empty = read_file(&workspace.root, ask("empty")).unwrap();
    assert_eq!((empty.text.as_str(), empty.start_line, empty.end_line), ("", 1, 0));
    assert_eq!((empty.total_lines, empty.truncated, empty.size_bytes), (Some(0), false, 0));
}

#[test]
fn what_is_not_a_text_file_is_a_failure() {
    let workspace = Workspace::with(&[("dir/f", "x")]);
    workspace.write("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    assert_eq!(code(&workspace, ask("image.png")), "binary_file");
    assert_eq!(code(&workspace, ask("dir")), "not_a_file");
    assert_eq!(code(&workspace, ask("missing")), "not_found");
    assert_eq!(code(&workspace, ask("../outside/secret.txt")), "path_outside_root");
}

#[test]
fn encodings_are_told() {
    let workspace = Workspace::new();
    workspace.write("latin1.txt", b"caf\xe9\nfine\n");
    let utf16: Vec<_> = "\u{FEFF}eins\r\nzwei\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    workspace.write("windows.txt", utf16);
    let latin1 = read_file(&workspace.root, ask("latin1.txt")).unwrap();
    assert_eq!((latin1.text.as_str(), latin1.lossy), ("caf\u{FFFD}\nfine\n", true));
    // The loss is told only with the line that has it.
    assert!(!read_file(&workspace.root, range("latin1.txt", 2, 2)).unwrap().lossy);
    let windows = read_file(&workspace.root, range("windows.txt", 2, 2)).unwrap();
    assert_eq!((windows.text.as_str(), windows.encoding), ("zwei\r\n", TextEncoding::Utf16Le));
    assert_eq!((windows.total_lines, windows.lossy), (Some(2), false));
}

#[test]
fn long_text_ends_after_a_whole_line() {
    let line = format!("{}\n", "x".repeat(99));
    let workspace = Workspace::with(&[("long", &line.repeat(5000))]);
    let read = read_file(&workspace.root, ask("long")).unwrap();
    assert_eq!((read.text.len(), read.end_line), (131_000, 1310));
    assert_eq!((read.total_lines, read.truncated, read.line_cut), (Some(5000), true, false));
    let small = ReadFile { max_bytes: NonZeroU64::new(250), ..range("long", 7, 0) };
    let read = read_file(&workspace.root, small).unwrap();
    assert_eq!((read.text.len(), read.end_line, read.truncated), (200, 8, true));
    let huge = ReadFile { max_bytes: NonZeroU64::new(u64::MAX), ..ask("long") };
    assert_eq!(read_file(&workspace.root, huge).unwrap().text.len(), 500_000);
}

#[test]
fn a_huge_line_is_cut() {
    let workspace = Workspace::with(&[("bundle.js", &"é".repeat(2_000_000))]);
    let read = read_file(&workspace.root, ask("bundle.js")).unwrap();
    assert_eq!((read.text.len(), read.end_line, read.total_lines), (131_072, 1, Some(1)));
    assert!(read.truncated && read.line_cut && !read.lossy);
    let most = ReadFile { max_bytes: NonZeroU64::new(u64::MAX), ..ask("bundle.js") };
    assert_eq!(read_file(&workspace.root, most).unwrap().text.len(), 1024 * 1024);
}

#[test]
fn a_file_is_read_only_so_far() {
    let workspace = Workspace::with(&[("large", &"line\n".repeat(200_000))]);
    let early = scan(&workspace.root, range("large", 3, 4), 100_000).unwrap();
    assert_eq!((early.text.as_str(), early.total_lines, early.truncated), ("line\nline\n", None, false));
    let late = scan(&workspace.root, range("large", 150_000, 0), 100_000).unwrap_err();
    assert_eq!(late.code(), "file_too_large");
    let all = read_file(&workspace.root, range("large", 200_000, 0)).unwrap();
    assert_eq!((all.text.as_str(), all.total_lines), ("line\n", Some(200_000)));
}

#[test]
fn unknown_arguments_are_refused() {
    let parse = |text: &str| serde_json::from_str::<ReadFile>(text);
    assert_eq!(parse(r#"{"path": "f", "start_line": 2, "end_line": 3}"#).unwrap(), range("f", 2, 3));
    assert!(parse(r#"{"path": "f", "line": 2}"#).is_err());
    assert!(parse(r#"{"path": "f", "start_line": 0}"#).is_err());
    assert!(parse("{}").is_err());
}
