use super::*;

#[expect(clippy::disallowed_methods, reason = "the files are the test's own")]
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("rules")).unwrap();
    for name in ["rules/b.cedar", "rules/a.cedar", "rules/a.cedar.old", "one.cedar"] {
        std::fs::write(folder.path().join(name), name).unwrap();
    }
    folder
}

fn read(patterns: &[&str]) -> Result<Vec<String>, String> {
    let folder = folder();
    let files = RuleFiles::new(folder.path(), patterns.iter().map(|pattern| (*pattern).to_owned())).read();
    files.map(|files| files.into_iter().map(|file| file.name).collect()).map_err(|refused| refused.to_string())
}

#[test]
fn files_come_in_the_order_of_their_patterns() {
    assert_eq!(read(&[]).unwrap(), ["lockgate:native"]);
    assert_eq!(
        read(&["one.cedar", "rules/*.cedar", "rules/a.cedar", "lockgate:ask-always"]).unwrap(),
        ["one.cedar", "rules/a.cedar", "rules/b.cedar", "lockgate:ask-always"]
    );
}

#[test]
fn what_names_no_file_is_refused() {
    assert_eq!(read(&["rule/*.cedar"]).unwrap_err().lines().count(), 1);
    assert_eq!(read(&["rules/*.toml"]).unwrap_err(), "`rules/*.toml`: no file is called so");
    assert_eq!(read(&["lockgate:nativ"]).unwrap_err(), "`lockgate:nativ`: no such set ships with Lockgate");
    let both = read(&["two.cedar", "one.cedar", "three.cedar"]).unwrap_err();
    assert_eq!(both.lines().count(), 2, "{both}");
}
