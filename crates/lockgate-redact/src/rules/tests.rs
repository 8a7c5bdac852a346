//! Every rule with what it must find and what it must leave alone.

use lockgate_contract::ports::Redactor as _;

use super::example::filled;
use super::*;
use crate::ScrubberBuilder;

/// The examples of the program's own rules, as their file has them.
struct Examples {
    label: String,
    found: Vec<String>,
    left: Vec<String>,
}

fn examples() -> Vec<Examples> {
    let file: toml::Table = toml::from_str(include_str!("../../rules.toml")).unwrap();
    let texts = |rule: &toml::Value, key: &str| -> Vec<String> {
        rule[key].as_array().unwrap().iter().map(|text| filled(text.as_str().unwrap())).collect()
    };
    file["rule"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| Examples {
            label: rule["id"].as_str().unwrap().to_owned(),
            found: texts(rule, "positive"),
            left: texts(rule, "negative"),
        })
        .collect()
}

#[test]
fn every_rule_finds_its_examples_and_leaves_the_others() {
    let scrubber = ScrubberBuilder::new().build().unwrap();
    for Examples { label, found, left } in examples() {
        assert!(!found.is_empty() && !left.is_empty(), "{label}");
        for example in found {
            for text in
                [example.clone(), format!("see {example}, then"), format!("\"{example}\""), format!("a\\n{example}\\n")]
            {
                let clean = scrubber.scrub(&text);
                assert!(clean.contains(&format!("[redacted:{label}#")), "{label}: {text} became {clean}");
                assert!(!clean.contains(&example), "{label}: {text} became {clean}");
            }
        }
        for example in left {
            assert_eq!(scrubber.scrub(&example), example, "{label}");
        }
    }
}

#[test]
fn every_rule_reaches_its_examples_by_every_literal() {
    for (rule, examples) in built_in().unwrap().iter().zip(examples()) {
        assert_eq!(*rule.label, examples.label);
        let compiled = CompiledRule::new(Arc::clone(rule));
        for found in &examples.found {
            assert!(compiled.finds(found), "the rule {} does not find {found}", rule.label);
        }
        for literal in &rule.literals {
            let used = examples.found.iter().any(|text| text.contains(&**literal));
            assert!(used, "no example of {} has the literal {literal}", rule.label);
        }
    }
}

#[test]
fn every_pattern_compiles_and_stays_within_a_token() {
    for rule in built_in().unwrap() {
        let pattern = compile(&rule.pattern).unwrap();
        assert!(!pattern.is_match(""), "{}", rule.label);
        assert!(matches!(rule.reach, Reach::Run));
    }
}

#[test]
fn keys_that_vendors_print_in_their_manuals_stay() {
    let scrubber = ScrubberBuilder::new().build().unwrap();
    for text in ["AKIAIOSFODNN7EXAMPLE", concat!("sk_test_", "4eC39HqLyjWDarjtT1zdp7dc")] {
        assert_eq!(scrubber.scrub(text), text);
    }
}

#[test]
fn a_rule_without_its_pattern_takes_the_whole_word() {
    let broken = CompiledRule::new(Arc::new(Rule {
        label: "broken".into(),
        literals: vec!["tok_".into()],
        lead: Lead::Bytes(0),
        boundary: Boundary::Word,
        pattern: "tok_(".into(),
        reach: Reach::Run,
    }));
    let finding = broken.find("a tok_secret b", 2, &mut Effort::for_text(14), |_| false).unwrap();
    assert_eq!(finding.value, "tok_secret");
}

const ACME: &str = r#"
version = 1
[[rule]]
id = "acme_key"
keywords = ["acme-"]
boundary = "word_or_hyphen"
pattern = 'acme-[0-9]{4}!([a-z]{8,})'
positive = ["acme-2026!{hex:0}abcdefgh"]
negative = ["acme-corporation"]
[[rule]]
id = "acme_key"
keywords = ["ACME_"]
charset = "A-Z0-9"
min_length = 12
positive = ["ACME_{upper:12}"]
negative = ["ACME_CORP"]
"#;

#[test]
fn rules_of_a_users_file_stand_beside_the_built_in_ones() {
    let mut builder = ScrubberBuilder::new();
    builder.rules("acme.toml", ACME).unwrap();
    let scrubber = builder.build().unwrap();
    let text = format!("acme-2026!abcdefgh ACME_AB3DE5GH7JK9 {}", filled("ghp_{alnum:36}"));
    let clean = scrubber.scrub(&text).into_owned();
    let labels: Vec<&str> = clean.split("redacted:").skip(1).map(|part| part.split('#').next().unwrap()).collect();
    assert_eq!(labels, ["acme_key", "acme_key", "github_token"], "{clean}");
    assert!(clean.starts_with("acme-2026![redacted:"), "the first group is the secret: {clean}");
    // A marker of such a rule is a marker.
    assert_eq!(scrubber.scrub(&clean), clean);
    assert_eq!(ScrubberBuilder::new().build().unwrap().scrub("acme-2026!abcdefgh"), "acme-2026!abcdefgh");
}

#[test]
fn a_users_rule_sees_one_line_and_no_more_than_its_bound() {
    let greedy = ACME.replace("'acme-[0-9]{4}!([a-z]{8,})'", r"'(?s)acme-[0-9]{4}!.*'");
    let mut builder = ScrubberBuilder::new();
    builder.rules("acme.toml", &greedy).unwrap();
    let scrubber = builder.build().unwrap();
    let clean = scrubber.scrub("acme-2026!abcdefgh and\nthe next line").into_owned();
    assert!(clean.starts_with("[redacted:acme_key#") && clean.ends_with("]\nthe next line"), "{clean}");
    let long = format!("acme-2026!{}", "x ".repeat(LONGEST));
    assert!(scrubber.scrub(&long).len() > LONGEST, "what is behind the bound stays");
}

#[test]
fn a_bad_rule_says_which_and_why() {
    let with = |from: &str, to: &str| ScrubberBuilder::new().rules("acme.toml", &ACME.replace(from, to)).unwrap_err();
    let rule = "redaction rule `acme_key` in `acme.toml` cannot be used: ";
    for (from, to, problem) in [
        ("[a-z]{8,})", "[a-z]{8,}", "its pattern cannot be used: unclosed group"),
        ("[a-z]{8,})'", "[a-z]{8,})|'", "its pattern matches the empty text"),
        ("[a-z]{8,})'", r"\w{999}{999})'", "its pattern is too big: use smaller repetitions"),
        (
            "pattern = '",
            "pattern = '(?=a)",
            "its pattern cannot be used: look-around, including look-ahead and look-behind, is not supported",
        ),
        ("abcdefgh", "abc", "it finds nothing in its positive example `acme-2026!{hex:0}abc`"),
        (
            "acme-corporation",
            "acme-2026!corporation",
            "it finds something in its negative example `acme-2026!corporation`",
        ),
        ("\"acme-\"", "\"acme-\", \"acne-\"", "no positive example has its keyword `acne-`"),
        ("\"acme-\"", "\"a\"", "its keyword `a` is shorter than 3 bytes: it would stand everywhere"),
        ("\"acme-\"", "", "it has 0 keywords; it needs 1 to 16"),
        ("[\"acme-corporation\"]", "[]", "it needs at least one `positive` and one `negative` example"),
        ("\"A-Z0-9\"", "\"A-Z]\"", "its `charset` may hold letters, digits, ranges of them and `-_+/=.~%:!@#$*`"),
        ("min_length = 12", "", "it needs either a `pattern`, or a `charset` with a `min_length`"),
        ("min_length = 12", "min_length = 0", "its `min_length` is not 1 to 1024"),
        (
            "min_length = 12",
            "min_length = 12\nlead = 1",
            "a rule with `charset` begins with its keyword: it has no `lead`",
        ),
    ] {
        assert_eq!(with(from, to).to_string(), format!("{rule}{problem}"));
    }
    let file = "the redaction rules in `acme.toml` cannot be read: ";
    for (from, to, problem) in [
        ("version = 1", "version = 2", "its `version` is 2; this program reads version 1"),
        ("boundary", "border", "line 6: unknown field `border`"),
        ("\"word_or_hyphen\"", "\"line\"", "line 6: unknown variant `line`"),
        ("boundary = \"word_or_hyphen\"", "lead = \"letters\"", "`lead` is a number of bytes or \"digits\""),
        ("keywords = [\"acme-\"]", "keywords = [", "line "),
    ] {
        let message = with(from, to).to_string();
        assert!(message.starts_with(file) && message.contains(problem), "{message}");
    }
    let named = with("id = \"acme_key\"", "id = \"Acme Key\"").to_string();
    assert!(named.contains("`Acme Key`") && named.contains("its `id` is not 1 to 64"), "{named}");
    let refused = |text: &str| ScrubberBuilder::new().rules("f", text).unwrap_err().to_string();
    assert!(refused("version = 1").ends_with("it has no `[[rule]]`"));
    assert!(refused(&" ".repeat(300_000)).contains("it has 300000 bytes; at most 262144 are read"));
}

#[test]
fn a_label_never_shows_a_known_value() {
    let mut builder = ScrubberBuilder::new();
    builder.secret("s", crate::SecretValue::new("acme_key")).unwrap();
    assert!(matches!(builder.rules("acme.toml", ACME), Err(RedactError::ValueInMarker { .. })));
}

#[test]
fn places_in_examples_are_filled() {
    assert_eq!(filled("a{hex:4}-{digits:3}{upper:2}{alnum:2}"), "a0f1e-234ABaB");
    for text in ["{", "{}", "{hex}", "{hex:x}", "{name:3}", "${X}", "{hex:99999}", "a{é}"] {
        assert_eq!(filled(text), text);
    }
}
