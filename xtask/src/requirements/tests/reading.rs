//! What is read off a source file.

use crate::requirements::source::{Kind, Source};

fn items(text: &str) -> Vec<(String, Kind)> {
    Source::parse(text).items.into_iter().map(|item| (item.path.join("::"), item.kind)).collect()
}

fn notes(text: &str) -> Vec<(String, usize)> {
    let notes = |item: &crate::requirements::source::Item| {
        let path = item.path.join("::");
        item.notes.iter().map(|note| (format!("{path}: {}", note.text), note.line)).collect::<Vec<_>>()
    };
    Source::parse(text).items.iter().flat_map(notes).collect()
}

#[test]
fn tests_are_told_from_other_functions() {
    let text = r#"
        #[test]
        fn plain() {}
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn with_runtime() {}
        #[test]
        #[ignore = "slow"]
        fn ignored() {}
        #[cfg(test)]
        fn shared() {}
        #[tokio::main]
        async fn main() {}
        mod inner {
            proptest! {
                #[test]
                fn property(number in 0..9) { body(number) }
            }
        }
        const TABLE: [fn(); 1] = [shared];
    "#;
    let expected = [
        ("plain", Kind::Test),
        ("with_runtime", Kind::Test),
        ("ignored", Kind::Shared),
        ("shared", Kind::Shared),
        ("main", Kind::Shared),
        ("inner::proptest!", Kind::Input),
        ("inner::property", Kind::Test),
        ("TABLE", Kind::Shared),
    ];
    assert_eq!(items(text), expected.map(|(path, kind)| (path.to_owned(), kind)));
}

#[test]
fn a_comment_belongs_to_the_innermost_function() {
    let text = "\
        fn outer<'a>(text: &'a str, mark: char) -> &'static str {\n\
            let quote = '\"'; // one\n\
            let text = \"// not this \\\" nor this\";\n\
            let raw = r#\"// nor this \"quote\" \"#; /* nor /* this */ */\n\
            fn inner() {} // two\n\
            fn other() { // three\n\
            }\n\
        }\n\
        /// no comment\n\
        //! no comment either\n\
        // nobody's\n";
    let expected = [("outer: one", 2), ("outer: two", 5), ("other: three", 6)];
    let mut found = notes(text);
    found.sort_by_key(|(_, line)| *line);
    assert_eq!(found, expected.map(|(note, line)| (note.to_owned(), line)));
    let loose: Vec<_> = Source::parse(text).loose.into_iter().map(|note| (note.text, note.line)).collect();
    assert_eq!(loose, [("nobody's".to_owned(), 11)]);
}

#[test]
fn modules_of_tests_are_known() {
    let source = Source::parse(
        "#[cfg(test)]\nmod tests;\nmod product;\n#[cfg(test)]\nmod inline { fn helper() {} }\nfn product() {}",
    );
    assert_eq!(source.test_modules, [["tests".to_owned()]]);
    let inside: Vec<_> = source.items.iter().map(|item| (item.path.join("::"), item.in_test_module)).collect();
    assert_eq!(inside, [("inline::helper".to_owned(), true), ("product".to_owned(), false)]);
}
