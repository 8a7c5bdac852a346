#![expect(clippy::disallowed_methods, reason = "how long it takes is what is tested")]

use std::time::{Duration, Instant};

use super::*;

/// Far more than any of these takes, far less than what they stand for would take.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn size_depth_and_number_are_bounded() {
    let long = format!(r#"{{"description":"{}"}}"#, "x".repeat(256 << 10));
    assert!(matches!(admit(&long), Err(SchemaRefused::TooLarge { bytes }) if bytes == long.len()));
    let deep = |levels: usize| format!("{}true{}", r#"{"not":"#.repeat(levels), "}".repeat(levels));
    assert_eq!(word(&deep(65)), "too_deep");
    assert_eq!(word(&deep(64)), "reference_expansion");
    assert_eq!(word(&deep(31)), "admitted");
    let items = |levels: usize| format!("{}true{}", r#"{"items":"#.repeat(levels), "}".repeat(levels));
    assert_eq!(word(&items(64)), "admitted");
    let many = format!(r#"{{"prefixItems":[{}]}}"#, vec!["true"; 20_000].join(","));
    assert_eq!(word(&many), "too_many_schemas");
}

#[test]
fn a_reference_bomb_is_refused_at_once() {
    let levels = 26;
    let definitions: Vec<_> = (0..levels)
        .map(|level| {
            let next = level + 1;
            format!(r##""d{level}":{{"allOf":[{{"$ref":"#/$defs/d{next}"}},{{"$ref":"#/$defs/d{next}"}}]}}"##)
        })
        .collect();
    let text = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d{levels}":{{}}}}}}"##, definitions.join(","));
    let begun = Instant::now();
    assert_eq!(word(&text), "reference_expansion");
    assert!(begun.elapsed() < SOON);
}

#[test]
fn many_uses_of_a_large_definition_are_refused() {
    let parts = vec![r##"{"$ref":"#/$defs/leaf"}"##; 2000].join(",");
    let uses: Vec<_> = (0..2000).map(|at| format!(r##""{at}":{{"$ref":"#/$defs/large"}}"##)).collect();
    let text =
        format!(r#"{{"properties":{{{}}},"$defs":{{"leaf":{{}},"large":{{"anyOf":[{parts}]}}}}}}"#, uses.join(","));
    assert_eq!(word(&text), "reference_expansion");
}

#[test]
fn a_chain_of_references_is_refused() {
    let chain: Vec<_> = (0..5000).map(|at| format!(r##""{at}":{{"$ref":"#/$defs/{}"}}"##, at + 1)).collect();
    let text = format!(r##"{{"$ref":"#/$defs/0","$defs":{{{},"5000":{{}}}}}}"##, chain.join(","));
    assert_eq!(word(&text), "reference_expansion");
    let through_items: Vec<_> =
        (0..1000).map(|at| format!(r##""{at}":{{"items":{{"$ref":"#/$defs/{}"}}}}"##, at + 1)).collect();
    let text = format!(r##"{{"$ref":"#/$defs/0","$defs":{{{},"1000":{{}}}}}}"##, through_items.join(","));
    fits(&admitted(&text), &format!("{}{}", "[".repeat(128), "]".repeat(128)));
}

/// Each level of the value doubles the work of whoever does not remember results.
fn doubling(unevaluated: &str) -> String {
    format!(
        r##"{{"$ref":"#/$defs/q","$defs":{{"q":{{"allOf":[{{"properties":{{"a":{{"$ref":"#/$defs/q"}}}}}},
            {{"properties":{{"a":{{"$ref":"#/$defs/q"}}}}}},
            {{"anyOf":[{{"properties":{{"a":{{"$ref":"#/$defs/q"}}}}}},{{"properties":{{"a":{{"$ref":"#/$defs/q"}}}}}}]}}]{unevaluated}}}}}}}"##
    )
}

#[test]
fn doubling_at_every_level_ends_soon() {
    let nested = |inner: &str| format!("{}{inner}{}", r#"{"a":"#.repeat(100), "}".repeat(100));
    for unevaluated in ["", r#","unevaluatedProperties":false"#] {
        let schema = admitted(&doubling(unevaluated));
        let begun = Instant::now();
        for instance in [nested("1"), nested(r#"{"b":1}"#), nested("{}")] {
            // Either answer is right, as long as one comes, and a wrong value is never taken.
            let answer = check(&schema, &instance);
            if instance.contains('b') && !unevaluated.is_empty() {
                assert!(answer.is_err());
            }
        }
        assert!(begun.elapsed() < SOON);
    }
    // The root fails last, after all that fits below it was looked at.
    let text = doubling("").replacen(r##""$ref""##, r#""required":["z"],"$ref""#, 1);
    let begun = Instant::now();
    assert!(check(&admitted(&text), &nested("{}")).is_err());
    assert!(begun.elapsed() < SOON);
}

#[test]
fn many_errors_do_not_fill_memory() {
    let schema = admitted(r#"{"items":{"anyOf":[{"type":"string"},{"type":"null"}]}}"#);
    let instance = format!("[{}]", vec!["1"; 200_000].join(","));
    let violations = check(&schema, &instance).unwrap_err();
    assert_eq!(violations.iter().next().unwrap().instance_pointer, "/0");
    assert_eq!(violations.iter().next().unwrap().keyword, "anyOf");
}

#[test]
fn a_deep_value_fits_on_a_small_stack() {
    // 15 schemas apply to each level by way of each other.
    let step = |inner: &str| format!(r#"{{"allOf":[{{"anyOf":[{inner}]}}]}}"#);
    let inner = (0..6).fold(r##"{"items":{"$ref":"#"}}"##.to_owned(), |inner, _| step(&inner));
    let schema = admitted(&inner);
    let instance = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    // A thread of the async runtime has 2 MiB.
    let checked = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        fits(&schema, &instance(100));
        breaks(&schema, &instance(128));
        check(&schema, &instance(128)).unwrap_err().to_string()
    });
    assert!(checked.unwrap().join().unwrap().contains("nested too deeply"));
}

#[test]
fn patterns_are_matched_in_linear_time_or_refused() {
    for (pattern, good, bad) in [
        (r"^\\d+$", "12", "1x"),
        (r"^\\p{L}+$", "äb", "1"),
        (r"^\\w{2}$", "ab", "äb"),
        (r"^[^\\s]+$", "a", "a b"),
        (r"^(a+)+$", "aaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
        (r"b", "abc", "ac"),
    ] {
        let schema = admitted(&format!(r#"{{"pattern":"{pattern}"}}"#));
        fits(&schema, &format!("{good:?}"));
        assert_eq!(breaks(&schema, &format!("{bad:?}")), "pattern");
    }
    for (pattern, reason) in [
        (r"^(?!a)", "looks around"),
        (r"(?<=a)b", "looks around"),
        (r"^(?=.*[a-z]).+$", "looks around"),
        (r"(a)\\1", "refers back"),
        (r"(", "is not"),
        (r"[a-z]{1000}{1000}", "is not"),
        (r"^(\\p{L}{0,900}x){0,90}$", "is not"),
    ] {
        for text in [
            format!(r#"{{"properties":{{"p":{{"pattern":"{pattern}"}}}}}}"#),
            format!(r#"{{"patternProperties":{{"{pattern}":{{}}}}}}"#),
            draft_7(&format!(r#"{{"properties":{{"p":{{"pattern":"{pattern}"}}}}}}"#)),
        ] {
            match admit(&text).unwrap_err() {
                SchemaRefused::Pattern { pointer, reason: given } => {
                    assert!(given.starts_with(reason), "{text}: {given}");
                    assert!(
                        pointer == "/properties/p/pattern" || pointer.starts_with("/patternProperties"),
                        "{pointer}"
                    );
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }
    let many: Vec<_> = (0..65).map(|at| format!(r#""{at}":{{"pattern":"{at}"}}"#)).collect();
    assert_eq!(word(&format!(r#"{{"properties":{{{}}}}}"#, many.join(","))), "pattern");
}

#[test]
fn a_hostile_regular_expression_as_a_value_is_survived() {
    let schema = admitted(r#"{"format":"regex"}"#);
    for text in ["(".repeat(1 << 18), format!("{}{}", "(".repeat(1 << 18), ")".repeat(1 << 18)), "[".repeat(1 << 18)] {
        let begun = Instant::now();
        _ = check(&schema, &format!("{text:?}"));
        assert!(begun.elapsed() < SOON);
    }
}
