use super::*;

#[test]
fn stars_stop_at_slashes() {
    let matches = |pattern: &str, scope, path: &str| compile_glob(pattern, scope).unwrap().is_match(path);
    assert!(matches("*.rs", Scope::WholePath, "main.rs"));
    assert!(!matches("*.rs", Scope::WholePath, "src/main.rs"));
    assert!(matches("*.rs", Scope::FileName, "src/bin/main.rs"));
    assert!(matches("**/*.rs", Scope::WholePath, "main.rs"));
    assert!(matches("**/*.rs", Scope::WholePath, "src/bin/main.rs"));
    assert!(matches("./src/{a,b}?.rs", Scope::FileName, "src/a1.rs"));
    assert!(!matches("src/*.rs", Scope::FileName, "other/src/a.rs"));
    assert!(matches("日*", Scope::WholePath, "日本"));
    assert!(matches("*.rs", Scope::FileName, ".hidden.rs"));
}

#[test]
fn bad_globs_are_refused_with_a_reason() {
    let long = "x".repeat(MAX_PATTERN_BYTES + 1);
    for pattern in ["", "./", "/etc/*", "../*", "a/../../b", "a{b", "[z-a]", "[", &long] {
        let failure = compile_glob(pattern, Scope::WholePath).unwrap_err();
        assert_eq!(failure.code(), "invalid_pattern", "{pattern}");
        assert!(failure.to_string().len() < 400, "{failure}");
    }
}
