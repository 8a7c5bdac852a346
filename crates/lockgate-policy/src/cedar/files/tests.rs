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

#[test]
fn a_pattern_has_one_star_in_the_name_of_the_file() {
    for pattern in ["rules/*a*.cedar", "rules/**", "*/a.cedar", "*/*.cedar", "rul*/one/a.cedar"] {
        let told = format!("`{pattern}`: a pattern has one `*`, in the name of the file");
        assert_eq!(read(&[pattern]).unwrap_err(), told);
    }
}

/// A rule that forbids may stand in it. Other systems take no such name.
#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::disallowed_methods, reason = "the files are the test's own")]
fn a_name_that_is_not_utf8_is_not_passed_over() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = folder();
    std::fs::write(folder.path().join("rules").join(std::ffi::OsStr::from_bytes(b"c\xff.cedar")), "c").unwrap();
    let files = |pattern: &str| RuleFiles::new(folder.path(), [pattern.to_owned()]).read();
    assert_eq!(files("rules/a.cedar").unwrap().len(), 1);
    let refused = files("rules/*.cedar").unwrap_err().to_string();
    assert_eq!(refused, "`rules/*.cedar`: the folder cannot be read: the name `c\u{fffd}.cedar` is not UTF-8");
}
