//! Explicit replacement, and what becomes of the runs that are bound to the old definition (R-027).

use std::collections::BTreeSet;

use lockgate_contract::effect::{Idempotency, ReplayPolicy};
use lockgate_contract::tool::Audience;

use super::*;

#[test]
fn each_rule_decides_for_the_bound_runs() {
    for (rule, old_run) in [
        (ReplacementRule::Finish, Ok("1.0".to_owned())),
        (ReplacementRule::Migrate, Ok("2.0".to_owned())),
        (ReplacementRule::Stop, Err("definition_changed")),
    ] {
        let registry = registry(&["read"]);
        let old = bound(&registry);
        registry.replace(version("read", "2.0"), rule).unwrap();
        assert_eq!(reached(&registry, "read", &old), old_run, "{rule:?}"); // R-027, R-151
        assert_eq!(reached(&registry, "read", &bound(&registry)), Ok("2.0".to_owned()), "{rule:?}");
        // The record says when the old definition stopped being valid, and what was decided.
        let changes = registry.changes();
        let Some(Change::Replaced { name, from, to, rule: recorded }) = changes.last() else {
            panic!("{changes:?}");
        };
        assert_eq!((name.as_str(), *recorded), ("read", rule));
        assert_eq!(*from, old.definition("read").unwrap());
        assert_eq!(*to, registry.get("read").unwrap().spec().definition());
    }
}

#[test]
fn runs_that_finish_keep_their_handler() {
    let registry = registry(&["read"]);
    let (old, tool) = (bound(&registry), registry.get("read").unwrap());
    registry.replace(version("read", "2"), ReplacementRule::Finish).unwrap();
    assert!(Arc::ptr_eq(&registry.resolve("read", &old).unwrap(), &tool)); // R-028
}

#[test]
fn a_second_replacement_decides_for_its_own_runs() {
    use ReplacementRule::{Finish, Migrate, Stop};
    let stopped = Err("definition_changed");
    let at = |version: &str| Ok(version.to_owned());
    for (first, second, bound_to_1, bound_to_2) in [
        (Finish, Finish, at("1.0"), at("2")),
        (Finish, Migrate, at("1.0"), at("3")),
        (Finish, Stop, at("1.0"), stopped.clone()),
        // Those that migrated are runs of the second definition from then on.
        (Migrate, Finish, at("2"), at("2")),
        (Migrate, Migrate, at("3"), at("3")),
        (Migrate, Stop, stopped.clone(), stopped.clone()),
        (Stop, Finish, stopped.clone(), at("2")),
        (Stop, Migrate, stopped.clone(), at("3")),
        (Stop, Stop, stopped.clone(), stopped.clone()),
    ] {
        let registry = registry(&["read"]);
        let run_1 = bound(&registry);
        registry.replace(version("read", "2"), first).unwrap();
        let run_2 = bound(&registry);
        registry.replace(version("read", "3"), second).unwrap();
        assert_eq!(reached(&registry, "read", &run_1), bound_to_1, "{first:?}, {second:?}"); // R-027
        assert_eq!(reached(&registry, "read", &run_2), bound_to_2, "{first:?}, {second:?}");
        assert_eq!(reached(&registry, "read", &bound(&registry)), at("3"));
        // However the others go on: a revocation is for all (R-038, R-151).
        registry.revoke("read");
        for run in [&run_1, &run_2] {
            assert_eq!(reached(&registry, "read", run), Err("revoked"));
            assert!(registry.definitions(run).is_empty());
        }
        // What comes later under this name is none of their business.
        registry.register(version("read", "4")).unwrap();
        assert_eq!(reached(&registry, "read", &run_1), stopped);
        assert_eq!(reached(&registry, "read", &run_2), stopped);
    }
}

#[test]
fn replaced_back_to_the_old_definition() {
    let registry = registry(&["read"]);
    let run_1 = bound(&registry);
    registry.replace(version("read", "2"), ReplacementRule::Stop).unwrap();
    let run_2 = bound(&registry);
    registry.replace(version("read", "1.0"), ReplacementRule::Finish).unwrap();
    // The first definition is in force again, with its new handler.
    assert!(Arc::ptr_eq(&registry.resolve("read", &run_1).unwrap(), &registry.get("read").unwrap()));
    assert_eq!(reached(&registry, "read", &run_2), Ok("2".to_owned()));
    // And can be replaced again, under another rule.
    registry.replace(version("read", "3"), ReplacementRule::Stop).unwrap();
    assert_eq!(reached(&registry, "read", &run_1), Err("definition_changed"));
    assert_eq!(reached(&registry, "read", &run_2), Ok("2".to_owned()));
}

#[test]
fn a_rollback_leaves_runs_where_they_were_told_to_finish() {
    let registry = registry(&["read"]);
    let run = bound(&registry);
    registry.replace(version("read", "2"), ReplacementRule::Migrate).unwrap();
    registry.replace(version("read", "3"), ReplacementRule::Migrate).unwrap();
    registry.replace(version("read", "2"), ReplacementRule::Finish).unwrap();
    assert_eq!(reached(&registry, "read", &run), Ok("3".to_owned()));
}

#[test]
fn a_replacement_needs_something_to_replace() {
    let registry = registry(&["read"]);
    let error = registry.replace(spec("write"), ReplacementRule::Stop).unwrap_err();
    assert_eq!(error.to_string(), "there is no tool `write` to replace");
    assert_eq!(error.word(), "nothing_to_replace");
    assert_eq!(registry.names(), ["read"]);
    let error = registry.replace(spec("\u{200b}"), ReplacementRule::Stop).unwrap_err();
    assert_eq!(error.word(), "name");
    assert!(matches!(&registry.changes()[1..], [Change::Refused { .. }, Change::Refused { .. }])); // R-026
}

#[test]
fn a_refused_replacement_leaves_the_old_one_in_force() {
    let registry = registry(&["read"]);
    let (old, tool) = (bound(&registry), registry.get("read").unwrap());
    let bad = self::tool("read").version("2").input_schema_text(r#"{"type":"array"}"#).build().unwrap();
    assert!(matches!(registry.replace(bad, ReplacementRule::Migrate), Err(RegisterError::Schema { .. })));
    assert!(Arc::ptr_eq(&registry.resolve("read", &old).unwrap(), &tool));
}

#[test]
fn under_one_definition_runs_can_only_migrate() {
    let registry = registry(&["read"]);
    let (old, tool) = (bound(&registry), registry.get("read").unwrap());
    for rule in [ReplacementRule::Finish, ReplacementRule::Stop] {
        let error = registry.replace(spec("read"), rule).unwrap_err();
        assert_eq!(error.word(), "same_definition");
        assert!(Arc::ptr_eq(&registry.resolve("read", &old).unwrap(), &tool)); // R-028
    }
    registry.replace(spec("read"), ReplacementRule::Migrate).unwrap();
    let new = registry.get("read").unwrap();
    assert!(!Arc::ptr_eq(&new, &tool));
    assert!(Arc::ptr_eq(&registry.resolve("read", &old).unwrap(), &new));
}

#[test]
fn runs_do_not_migrate_to_what_they_were_not_bound_for() {
    let base = || tool("read").version("2");
    let audience = Audience { tenants: BTreeSet::from(["demo".to_owned()]), ..Audience::default() };
    for (fact, changed) in [
        ("effect", base().effect(Effect::Write).idempotency(Idempotency::Declared)),
        ("replay policy", base().replay(ReplayPolicy::Never)),
        ("completes_run", base().completes_run(true)),
        ("set of resource keys", base().resource_keys(["disk"])),
        ("set of scopes", base().scopes(["admin"])),
        ("audience", base().audience(audience)),
    ] {
        let registry = registry(&["read"]);
        let old = bound(&registry);
        let changed = changed.build().unwrap();
        let error = registry.replace(changed, ReplacementRule::Migrate).unwrap_err();
        assert!(matches!(&error, RegisterError::CannotMigrate { fact: found, .. } if *found == fact), "{error}");
        assert_eq!(error.word(), "cannot_migrate");
        assert_eq!(reached(&registry, "read", &old), Ok("1.0".to_owned())); // R-147
    }
    // The other rules take any definition.
    let registry = registry(&["read"]);
    let old = bound(&registry);
    registry.replace(base().effect(Effect::External).build().unwrap(), ReplacementRule::Finish).unwrap();
    assert_eq!(registry.resolve("read", &old).unwrap().spec().effect(), Effect::Read);
}
