use std::path::Path;

use lockgate_contract::ports::{Count, Per};

use crate::RunFile;

fn read(text: &str) -> Result<RunFile, String> {
    RunFile::parse(Path::new("run.toml"), text).map_err(|error| error.to_string())
}

/// With rules that may look at numbers.
fn read_with_rules(text: &str) -> Result<RunFile, String> {
    read(&format!("[policy]\nengine = \"cedar\"\nfiles = [\"rules.cedar\"]\n{text}"))
}

#[test]
fn a_name_is_what_rules_look_at() {
    let file =
        read_with_rules("[[quota]]\nname = \"payments\"\ntool = \"pay\"\nper = \"tenant\"\nwithin = \"1d\"").unwrap();
    let quota = file.quota[0].quota();
    assert_eq!((quota.most, file.quota[0].count()), (None, Some(quota.count.clone())));
    let Count { name, tool, per, within, .. } = quota.count;
    assert_eq!((name.as_str(), tool.as_deref(), per), ("payments", Some("pay"), Per::Tenant));
    assert_eq!(within.unwrap().as_secs(), 86_400);
    let unnamed = read("[[quota]]\ntool = \"pay\"\nmost = 5\nper = \"run\"").unwrap();
    assert_eq!((unnamed.quota[0].count(), unnamed.quota[0].quota().most), (None, Some(5)));
    assert_eq!(unnamed.quota[0].quota().count.name, "5 of pay per run");
}

#[test]
fn what_no_rule_could_name_and_what_counts_for_nothing_is_refused() {
    let no_word = "is a word of lower-case letters, digits and `_`";
    let long = format!("a{}", "x".repeat(64));
    for (names, expected) in [
        (&[""] as &[&str], no_word),
        (&["Payments"], no_word),
        (&["5th"], no_word),
        (&["_hidden"], no_word),
        (&["a-b"], no_word),
        (&["a b"], no_word),
        (&["has"], no_word),
        (&[long.as_str()], no_word),
        (&["payments", "refunds", "payments"], "two of `quota` have the name `payments`"),
    ] {
        let tables: Vec<String> =
            names.iter().map(|name| format!("[[quota]]\nname = {name:?}\nper = \"run\"\n")).collect();
        let text = tables.concat();
        let error = read_with_rules(&text).unwrap_err();
        assert!(error.contains(expected), "{names:?}: {error}");
    }
    let error = read("[[quota]]\ntool = \"pay\"\nper = \"run\"").unwrap_err();
    assert!(error.contains("has a `most`, or a `name`"), "{error}");
    let unseen = read("[[quota]]\nname = \"payments\"\nper = \"run\"").unwrap_err();
    assert!(unseen.contains("bounds nothing without `most`"), "{unseen}");
}
