use super::*;
use crate::cedar::adapter;

fn rule(annotations: &str) -> Result<Rule, Defect> {
    let text = format!("\n{annotations}\npermit (principal, action, resource) when {{ context has approval }};");
    Rule::of(adapter::parse(&text).unwrap().remove(0), "pay.cedar", 3, &[])
}

#[test]
fn annotations_are_demands() {
    let demands =
        rule(r#"@id("large") @approvers("finance:2") @expires("10m") @reason("It is much money.")"#).unwrap().demands;
    assert_eq!(demands.approvers, Some(Approvers { roles: vec!["finance".to_owned()], count: 2 }));
    assert_eq!(demands.expires_in, Some(Duration::from_mins(10)));
    assert_eq!(demands.reason.as_deref(), Some("It is much money."));
    assert_eq!(rule("").unwrap().id, "pay.cedar#3");
}

#[test]
fn approvers_are_roles_and_a_number() {
    for (text, roles, count) in [
        ("finance", vec!["finance"], 1),
        ("legal, finance:3", vec!["finance", "legal"], 3),
        ("incident:approve", vec!["incident:approve"], 1),
        ("incident:approve:2", vec!["incident:approve"], 2),
        (":2", vec![], 2),
    ] {
        let approvers = approvers(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(
            (approvers.roles, approvers.count),
            (roles.into_iter().map(str::to_owned).collect(), count),
            "{text}"
        );
    }
    for text in ["", "finance:0", "finance,", ",:2", "finance:99999999999"] {
        assert_eq!(approvers(text), None, "{text}");
    }
}

#[test]
fn what_demands_nothing_does_not_load() {
    for (annotations, text) in [
        (r#"@approvals("finance")"#, "`pay.cedar`, line 2: there is no annotation `@approvals`"),
        (r#"@approvers("")"#, "`pay.cedar`, line 2: `@approvers(\"\")` says nothing"),
        (r#"@expires("soon")"#, "`pay.cedar`, line 2: `@expires(\"soon\")` says nothing"),
        (r#"@expires("0s")"#, "`pay.cedar`, line 2: `@expires(\"0s\")` says nothing"),
        (r#"@reason(" ")"#, "`pay.cedar`, line 2: `@reason(\" \")` says nothing"),
        (r#"@id("two words")"#, "`pay.cedar`, line 2: `two words` is no id for a rule"),
    ] {
        let defect = rule(annotations).unwrap_err();
        assert_eq!(defect.to_string(), text);
        assert!(defect.hint.is_some(), "{text}");
    }
    let text = r#"@approvers("finance") permit (principal, action, resource);"#;
    let defect = Rule::of(adapter::parse(text).unwrap().remove(0), "x", 1, &[]).unwrap_err();
    assert_eq!(defect.text, "`x#1` demands something of an approval, and does not look at one");
}
