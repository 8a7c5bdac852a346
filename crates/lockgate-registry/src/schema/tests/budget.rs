#![expect(clippy::disallowed_methods, reason = "how long it takes is what is tested")]

use std::time::{Duration, Instant};

use super::*;
use crate::schema::budget::Budget;
use crate::schema::limits::depth;

/// Far more than any of these takes, far less than what they stand for would take.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn size_depth_and_number_are_bounded() {
    let long = format!(r#"{{"description":"{}"}}"#, "x".repeat(256 << 10));
    assert!(matches!(admit(&long), Err(SchemaRefused::TooLarge { bytes }) if bytes == long.len()));
    assert_eq!(word(&format!(r#"{{"title":"{}"}}"#, "x".repeat((256 << 10) - 12))), "admitted");
    assert_eq!(word(&format!(r#"{{"title":"{}"}}"#, "x".repeat((256 << 10) - 11))), "too_large");
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
fn depth_is_measured_up_to_a_bound() {
    for (text, levels) in [("7", 0), ("[]", 1), (r#"{"a":[],"b":[[{}]]}"#, 4), (r#"[{"a":[[[[1]]]]},[]]"#, 6)] {
        for most in 0..9 {
            assert_eq!(depth(document(text).root(), most), levels.min(most), "{text}");
        }
    }
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
    // 998 uses of a definition of 999 schemas, 499 parts of 2, a leaf, the root and one property: a million.
    let parts = vec![r##"{"$ref":"#/$defs/leaf"}"##; 499].join(",");
    let uses: Vec<_> = (0..998).map(|at| format!(r##""{at}":{{"$ref":"#/$defs/large"}}"##)).collect();
    let with = |more: &str| {
        let uses = uses.join(",");
        format!(r#"{{"properties":{{{uses}{more}}},"$defs":{{"leaf":{{}},"large":{{"anyOf":[{parts}]}}}}}}"#)
    };
    assert_eq!(word(&with(r#","a":{}"#)), "admitted");
    assert_eq!(word(&with(r#","a":{},"b":{}"#)), "reference_expansion");
}

#[test]
fn one_value_meets_so_many_schemas_and_no_more() {
    // 100 uses of a definition of 198 schemas, 99 others and the root: 20,000.
    let uses = vec![r##"{"$ref":"#/$defs/large"}"##; 100].join(",");
    let schema = |others: usize| {
        let (parts, others) = (vec!["{}"; 197].join(","), ",true".repeat(others));
        format!(r#"{{"anyOf":[{uses}{others}],"$defs":{{"large":{{"anyOf":[{parts}]}}}}}}"#)
    };
    assert_eq!(word(&schema(99)), "admitted");
    assert_eq!(admit(&schema(100)).unwrap_err(), SchemaRefused::ReferenceExpansion { pointer: String::new() });
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
    // To find them all takes too many steps, and the last of those found may be wrong: the first one is looked for anew.
    assert_eq!(violations.iter().count(), 1);
}

#[test]
fn a_deep_value_fits_on_a_small_stack() {
    // 14 schemas apply to each level by way of each other.
    let step = |inner: &str| format!(r#"{{"allOf":[{{"anyOf":[{inner}]}}]}}"#);
    let inner = (0..6).fold(r##"{"items":{"$ref":"#"}}"##.to_owned(), |inner, _| step(&inner));
    let schema = admitted(&inner);
    let instance = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    // A thread of the async runtime has 2 MiB.
    let checked = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        // 1,600 active schemas: 106 levels of 14, and of the item itself.
        fits(&schema, &instance(106));
        check(&schema, &instance(107)).unwrap_err().to_string()
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
}

#[test]
fn the_patterns_of_a_schema_are_counted() {
    let schema = |keyword: &str, count: usize, value: fn(usize) -> String| {
        let members: Vec<_> = (0..count).map(|at| format!(r#""{at}/":{}"#, value(at))).collect();
        format!(r#"{{"{keyword}":{{{}}}}}"#, members.join(","))
    };
    let pattern = |at| format!(r#"{{"pattern":"{at}"}}"#);
    let any = |_| "{}".to_owned();
    let same = |_| r#"{"pattern":"a"}"#.to_owned();
    for (keyword, value, pointer) in [
        ("properties", pattern as fn(usize) -> String, "/properties/64~1/pattern"),
        ("patternProperties", any, "/patternProperties/64~1"),
    ] {
        assert_eq!(word(&schema(keyword, 64, value)), "admitted");
        let refused = admit(&schema(keyword, 65, value)).unwrap_err();
        let expected = SchemaRefused::Pattern { pointer: pointer.to_owned(), reason: "is one too many for one schema" };
        assert_eq!(refused, expected);
    }
    // Names are no patterns, and one that stands twice is one.
    assert_eq!(word(&schema("properties", 65, any)), "admitted");
    assert_eq!(word(&schema("properties", 65, same)), "admitted");
}

#[test]
fn a_budget_is_spent_with_its_last_step() {
    for bytes in [0, 1, 1000] {
        let budget = Budget::for_text(bytes);
        budget.spend(1_000_000);
        budget.spend(50 * bytes - usize::from(bytes > 0));
        assert_eq!(budget.is_spent(), bytes == 0);
        budget.spend(1);
        assert!(budget.is_spent());
        budget.spend(usize::MAX);
        assert!(budget.is_spent());
    }
}

#[test]
fn what_the_budget_did_not_reach_is_not_accused() {
    // One alternative after the other finds 100,000 errors at `/a`, and `/b` is read when nothing is left.
    let schema = admitted(
        r#"{"properties":{"a":{"anyOf":[{"items":{"type":"string"}},{"items":{"type":"null"}}]},"b":{"type":"string"}}}"#,
    );
    let instance = format!(r#"{{"a":[{}],"b":"fine"}}"#, vec!["1"; 100_000].join(","));
    let violations = check(&schema, &instance).unwrap_err();
    assert_eq!(violations.to_string(), "the value does not fit the schema; to say where takes too many steps");
    assert_eq!(violations.declared_path(), None);
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
