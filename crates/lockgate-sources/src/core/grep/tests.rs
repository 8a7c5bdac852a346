use super::*;
use crate::core::workspace::Workspace;

fn ask(pattern: &str) -> Grep {
    Grep { pattern: pattern.into(), ..Grep::default() }
}

fn search(workspace: &Workspace, arguments: Grep) -> GrepMatches {
    grep(&workspace.root, arguments).unwrap()
}

/// `path:line:text` of each match.
fn lines(found: &GrepMatches) -> Vec<String> {
    found.matches.iter().map(|found| format!("{}:{}:{}", found.path, found.line, found.text)).collect()
}

#[test]
fn matches_are_sorted_by_path_and_line() {
    let workspace = Workspace::with(&[
        ("b.txt", "needle\r\nhay\r\na needle and a needle\r\n"),
        ("a/z.txt", "hay\nneedle"),
        ("a-b.txt", "needle\n"),
        ("c.txt", "hay\n"),
    ]);
    let found = search(&workspace, ask("needle"));
    let expected = ["a-b.txt:1:needle", "a/z.txt:2:needle", "b.txt:1:needle", "b.txt:3:a needle and a needle"];
    assert_eq!(lines(&found), expected);
    assert_eq!((found.total_matches, found.files_matched, found.truncated, found.skipped), (4, 3, false, 0));
    assert_eq!(search(&workspace, ask("needle")), found);
}

#[test]
fn patterns_are_regular_expressions_within_a_line() {
    let workspace = Workspace::with(&[("f", "Foo(1)\r\nfoo(22)\r\nbar.*\r\ngrüße\r\n")]);
    let hits = |arguments| lines(&search(&workspace, arguments));
    assert_eq!(hits(ask(r"^foo\(\d+\)$")), ["f:2:foo(22)"]);
    assert_eq!(hits(Grep { case_insensitive: Some(true), ..ask(r"^FOO\(\d+\)$") }), ["f:1:Foo(1)", "f:2:foo(22)"]);
    assert_eq!(hits(Grep { literal: Some(true), ..ask("r.*") }), ["f:3:bar.*"]);
    assert_eq!(hits(Grep { case_insensitive: Some(true), ..ask("GRÜSS|GRÜßE") }), ["f:4:grüße"]);
    assert!(hits(ask(r"foo[\s\S]*bar")).is_empty());
}

#[test]
fn bad_patterns_are_refused_with_a_reason() {
    let workspace = Workspace::new();
    let message = |pattern: &str| {
        let failure = grep(&workspace.root, ask(pattern)).unwrap_err();
        assert_eq!(failure.code(), "invalid_pattern");
        failure.to_string()
    };
    assert_eq!(message("("), "the pattern `(` cannot be used: unclosed group");
    assert!(message("").ends_with("it is empty"));
    assert!(message("a\nb").contains("within single lines"));
    assert!(message(r"a\nb").contains("not allowed"), "{}", message(r"a\nb"));
    assert!(message(r"(?=x)").contains("look-around"), "{}", message(r"(?=x)"));
    assert!(message(r"((\w{1000}){1000}){1000}").contains("size limit"));
    message(&format!("{}x{}", "(".repeat(150), ")".repeat(150)));
    message(&"x".repeat(2000));
    let bad_glob = grep(&workspace.root, Grep { glob: Some("[".into()), ..ask("x") }).unwrap_err();
    assert_eq!(bad_glob.code(), "invalid_pattern");
}

#[test]
fn a_pattern_that_is_slow_elsewhere_takes_linear_time() {
    let workspace = Workspace::with(&[("f", &"a".repeat(50_000))]);
    assert_eq!(search(&workspace, ask("(a*)*(a|aa)+b")).total_matches, 0);
}

#[test]
fn path_and_glob_narrow_the_files() {
    let workspace =
        Workspace::with(&[("src/a.rs", "x\n"), ("src/a.py", "x\n"), ("src/in/b.rs", "x\n"), ("c.rs", "x\n")]);
    let files = |path: Option<&str>, glob: Option<&str>| {
        let arguments = Grep { path: path.map(Into::into), glob: glob.map(Into::into), ..ask("x") };
        search(&workspace, arguments).matches.into_iter().map(|found| found.path).collect::<Vec<_>>()
    };
    assert_eq!(files(None, Some("*.rs")), ["c.rs", "src/a.rs", "src/in/b.rs"]);
    assert_eq!(files(Some("src"), Some("*.rs")), ["src/a.rs", "src/in/b.rs"]);
    assert_eq!(files(Some("src"), Some("in/*")), ["src/in/b.rs"]);
    assert_eq!(files(Some("src/a.py"), None), ["src/a.py"]);
    assert!(files(Some("src/a.py"), Some("*.rs")).is_empty());
}

#[test]
fn ignored_hidden_and_binary_files_are_left_out() {
    let workspace = Workspace::with(&[
        (".gitignore", "target\n"),
        ("target/out", "needle\n"),
        (".env", "needle\n"),
        (".git/config", "needle\n"),
        ("kept", "needle\n"),
    ]);
    workspace.write("image", b"needle\0needle\n");
    assert_eq!(lines(&search(&workspace, ask("needle"))), ["kept:1:needle"]);
    let all = search(&workspace, Grep { include_ignored: Some(true), ..ask("needle") });
    assert_eq!(lines(&all), [".env:1:needle", "kept:1:needle", "target/out:1:needle"]);
    assert_eq!((all.files_matched, all.skipped), (3, 0));
    // Named by the caller, an ignored file is searched, and a binary one is said to be one.
    let named = search(&workspace, Grep { path: Some("target/out".into()), ..ask("needle") });
    assert_eq!(named.total_matches, 1);
    let binary = grep(&workspace.root, Grep { path: Some("image".into()), ..ask("needle") }).unwrap_err();
    assert_eq!(binary.code(), "binary_file");
}

#[test]
fn encodings_are_read_as_read_file_reads_them() {
    let workspace = Workspace::new();
    let utf16: Vec<_> = "\u{FEFF}eins\r\nnadel\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    workspace.write("utf16.txt", utf16);
    workspace.write("mark.txt", "\u{FEFF}nadel\n");
    // Only the first mark is one.
    workspace.write("two-marks.txt", "\u{FEFF}\u{FEFF}nadeln\n");
    workspace.write("latin1.txt", b"caf\xe9 nadel\n");
    let found = search(&workspace, ask("nadel$"));
    assert_eq!(lines(&found), ["latin1.txt:1:caf\u{FFFD} nadel", "mark.txt:1:nadel", "utf16.txt:2:nadel"]);
    assert_eq!(lines(&search(&workspace, ask("^nadel"))), ["mark.txt:1:nadel", "utf16.txt:2:nadel"]);
}

#[test]
fn context_is_given_once() {
    let workspace = Workspace::with(&[("f", "1\n2\nx3\n4\nx5\n6\n7\n8\n9\nx10\n"), ("g", "x1\n2\n3\n")]);
    let found = search(&workspace, Grep { context_lines: Some(2), ..ask("x") });
    let context: Vec<_> = found.matches.iter().map(|found| (found.line, &found.before[..], &found.after[..])).collect();
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert_eq!(context[0], (3, &lines(&["1", "2"])[..], &lines(&["4"])[..]));
    assert_eq!(context[1], (5, &lines(&[])[..], &lines(&["6", "7"])[..]));
    assert_eq!(context[2], (10, &lines(&["8", "9"])[..], &lines(&[])[..]));
    // Nothing of one file gets into the next.
    assert_eq!(context[3], (1, &lines(&[])[..], &lines(&["2", "3"])[..]));
}

#[test]
fn matches_beyond_the_cap_are_counted() {
    let workspace = Workspace::with(&[("a", &"x\n".repeat(300)), ("b", "x\ny\n")]);
    let found = search(&workspace, ask("x"));
    assert_eq!((found.matches.len(), found.total_matches, found.files_matched), (200, 301, 2));
    assert!(found.truncated);
    let all = search(&workspace, Grep { max_results: NonZeroU32::new(301), ..ask("x") });
    assert_eq!((all.matches.len(), all.truncated), (301, false));
    // The last match that is given still has its context, and only its own.
    let one = Grep { max_results: NonZeroU32::new(1), context_lines: Some(1), path: Some("b".into()), ..ask("x|z") };
    let one = search(&workspace, one);
    assert_eq!((one.matches[0].after.as_slice(), one.truncated), (&["y".to_owned()][..], false));
    let first = Grep { max_results: NonZeroU32::new(1), context_lines: Some(5), path: Some("a".into()), ..ask("x") };
    assert!(search(&workspace, first).matches[0].after.is_empty());
}

#[test]
fn the_text_of_an_answer_is_bounded() {
    let line = format!("x{}\n", "y".repeat(400));
    let workspace = Workspace::with(&[("f", &line.repeat(2000))]);
    let found = search(&workspace, Grep { max_results: NonZeroU32::new(2000), ..ask("x") });
    let bytes: usize = found.matches.iter().map(|found| found.path.len() + found.text.len()).sum();
    assert!((64 * 1024..65 * 1024).contains(&bytes), "{bytes}");
    assert_eq!((found.total_matches, found.truncated), (2000, true));
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let text = format!("{}NEEDLE{}\nNEEDLE{}\n", "é".repeat(5000), "ß".repeat(5000), "é".repeat(5000));
    let workspace = Workspace::with(&[("f", &text)]);
    let found = search(&workspace, ask("NEEDLE"));
    for found in &found.matches {
        assert!(found.cut && found.text.contains("NEEDLE") && found.text.len() <= 500, "{}", found.text);
        assert!(!found.text.contains('\u{FFFD}'), "{}", found.text);
    }
    assert!(found.matches[0].text.starts_with('é') && found.matches[0].text.ends_with('ß'));
    assert!(found.matches[1].text.starts_with("NEEDLE"));
}

#[test]
fn a_file_with_a_line_beyond_all_measure_is_counted_as_skipped() {
    let workspace = Workspace::with(&[("a", &"x".repeat(MAX_LINE_BYTES * 2)), ("b", "x\n")]);
    let found = search(&workspace, ask("x"));
    assert_eq!((lines(&found), found.skipped), (vec!["b:1:x".to_owned()], 1));
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_not_searched() {
    let workspace = Workspace::with(&[("dir/f", "secret\n")]);
    workspace.link("file", workspace.outside("secret.txt"));
    workspace.link("directory", workspace.outside(""));
    workspace.link("again", "dir");
    workspace.pipe("pipe");
    assert_eq!(lines(&search(&workspace, ask("secret"))), ["dir/f:1:secret"]);
    let code =
        |path: &str| grep(&workspace.root, Grep { path: Some(path.into()), ..ask("secret") }).unwrap_err().code();
    assert_eq!(code("file"), "path_outside_root");
    assert_eq!(code("directory"), "path_outside_root");
    // Named by the caller, a link that stays inside is followed.
    let again = search(&workspace, Grep { path: Some("again".into()), ..ask("secret") });
    assert_eq!(lines(&again), ["dir/f:1:secret"]);
}
