use syn::{Attribute, ItemFn, parse_str};

use super::of;

fn described(docs: &str) -> Option<String> {
    let function: ItemFn = parse_str(&format!("{docs}\nfn f() {{}}")).unwrap();
    let attributes: Vec<Attribute> = function.attrs;
    of(&attributes)
}

#[test]
fn lines_of_a_paragraph_are_joined_and_paragraphs_are_kept() {
    let text = described("/// Says who owns\n/// a service.\n///\n/// Ask it first.\n///");
    assert_eq!(text.unwrap(), "Says who owns a service.\n\nAsk it first.");
}

#[test]
fn lists_tables_and_code_keep_their_lines() {
    let text = described(
        "/// Kinds:\n/// - one\n///   more of it\n/// - two\n/// 1. first\n///\n/// # Head\n/// text\n/// ```json\n/// {\n///   \"a\": 1\n/// }\n/// ```\n/// after",
    );
    assert_eq!(
        text.unwrap(),
        "Kinds:\n- one more of it\n- two\n1. first\n\n# Head\ntext\n```json\n{\n  \"a\": 1\n}\n```\nafter"
    );
}

#[test]
fn a_block_comment_loses_its_stars() {
    assert_eq!(described("/**\n * Says who\n * owns it.\n */").unwrap(), "Says who owns it.");
}

#[test]
fn nothing_is_no_description() {
    assert_eq!(described(""), None);
    assert_eq!(described("///\n///  "), None);
    assert_eq!(described("#[doc(hidden)] #[doc(alias = \"x\")]"), None);
}
