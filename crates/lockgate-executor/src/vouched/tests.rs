use proptest::prelude::*;

use super::without_paths;

#[test]
fn a_plain_sentence_stays() {
    for text in [
        "the queue `jobs` is full (12 of 12), isn't it?",
        "HTTP 503: try again at 10:15",
        "ValueError: bad luck",
        "code:quota_exceeded, retry:no",
        "ratio 3:4, e.g. 50 %, user's own: \"no\" → «nein»",
        "…",
        "",
    ] {
        assert_eq!(without_paths(text), text);
    }
}

#[test]
fn no_path_of_the_machine_is_left() {
    // Everything between `SECRET` and the end of the word is the path.
    for path in [
        "/SECRET/x.py",
        "/SECRET",
        "/SECRET/x.py:3",
        "(/SECRET/x.py)",
        "[/SECRET/x.py],",
        "</SECRET/x.py>",
        "\"/SECRET/x.py\"",
        "'/SECRET/x.py'",
        "`/SECRET/x.py`",
        "“/SECRET/x.py”",
        "\"/SECRET/my SECRET folder SECRET/x.py\"",
        "'/SECRET/my SECRET folder SECRET/x.py'",
        "“/SECRET/my SECRET folder SECRET/x.py”",
        "‘/SECRET/my SECRET folder SECRET/x.py’",
        "«/SECRET/my SECRET folder SECRET/x.py»",
        "path\"/SECRET/my SECRET folder SECRET/x.py\"",
        "path='/SECRET/my SECRET folder SECRET/x.py'",
        "path=\"/SECRET/my SECRET folder SECRET/x.py\"",
        "File(\"C:\\SECRET files\\SECRET\\x\")",
        "key=/SECRET",
        "key=/SECRET/x",
        "key:/SECRET",
        "{\"path\":\"/SECRET/x\"}",
        "SECRET/relative.py",
        "./SECRET",
        "../SECRET",
        "~/SECRET",
        "~SECRET/x",
        "~SECRET",
        "$HOME/SECRET",
        "%APPDATA%\\SECRET",
        "C:\\SECRET\\x.dll",
        "c:/SECRET/x.dll",
        "C:SECRET.txt",
        "(C:SECRET.txt)",
        "key=C:SECRET.txt",
        "C:\\Program SECRET\\x",
        "\\\\SECRET\\share\\x",
        "//SECRET/share/x",
        "\\\\?\\C:\\SECRET",
        "file:///SECRET/x",
        "file:SECRET",
        "FILE:///SECRET/x",
        "file:%2F%2FSECRET",
        "%2fSECRET%2fx",
        "c%3A%5CSECRET",
        "https://SECRET.internal/x",
        "postgres://SECRET:5432/db",
        "/SECRET/ünï/😀",
        "/SECRET\u{a0}",
        "\u{200b}/SECRET",
        "\t/SECRET",
    ] {
        for text in [
            path.to_owned(),
            format!("cannot open {path}"),
            format!("cannot open {path}: denied"),
            format!("cannot open {path} for {path}, because it isn't there"),
            format!("don't open {path}"),
        ] {
            let shown = without_paths(&text);
            assert!(!shown.contains("SECRET"), "{text} → {shown}");
            assert!(shown.contains("[path]"), "{text} → {shown}");
        }
    }
}

#[test]
fn the_words_around_a_path_stay() {
    assert_eq!(without_paths("cannot open /srv/app/x.py: denied"), "cannot open [path] denied");
    assert_eq!(without_paths("cannot open \"/srv/my app/x.py\": denied"), "cannot open [path]: denied");
    assert_eq!(without_paths("error in /srv/x.py:3"), "error in [path]");
    assert_eq!(without_paths("it isn't in /srv/x, so don't ask"), "it isn't in [path] so don't ask");
    assert_eq!(without_paths("no row for key=/srv/x in `jobs`"), "no row for [path] in `jobs`");
}

#[test]
fn a_stack_trace_does_not_come_along() {
    //
    let text =
        "\n  the index is out of bounds\n   0: app::handler\n             at src/main.rs:3\nTraceback:\n  File x";
    assert_eq!(without_paths(text), "the index is out of bounds");
    assert_eq!(without_paths("one\r\ntwo"), "one");
}

proptest! {
    #[test]
    fn no_slash_survives(text in "(?s)[ a-zA-Z:/\\\\\"'`~%.\n()=]{0,60}") {
        let shown = without_paths(&text);
        prop_assert!(!shown.contains(['/', '\\']), "{text:?} → {shown:?}");
        prop_assert!(!shown.contains('\n'));
    }

    #[test]
    fn any_text_is_taken(text in any::<String>()) {
        prop_assert!(!without_paths(&text).contains(['/', '\\']));
    }
}
