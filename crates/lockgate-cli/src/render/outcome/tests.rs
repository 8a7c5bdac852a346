use lockgate::contract::outcome::{Code, TABLE};

use super::{reasons, show, table};

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn every_code_is_explained() {
    let all = plain(&table());
    for row in TABLE {
        assert!(all.lines().any(|line| line.starts_with(row.word)), "{} is not listed", row.word);
        let page = plain(&show(row));
        assert!(page.contains(row.remedy) && page.contains(row.model_text), "{page}");
    }
}

#[test]
fn reasons_stand_with_their_code() {
    assert!(reasons(Code::InvalidArguments).iter().any(|(word, _)| *word == "duplicate_key"));
    assert!(plain(&show(Code::UnknownTool.row())).contains("not_allowed          the tool exists"));
    assert!(reasons(Code::PolicyDenied).is_empty());
}
