//! What a run file's subject sees, as it is put together.

use std::fs;

use lockgate::assembly::{Assembly, AssemblyError, Overrides};
use lockgate::prelude::*;

/// Two tools, one of which reaches a data domain, and this subject.
#[expect(clippy::disallowed_methods, reason = "the run file is the test's own")]
fn assembled(subject: &str, visibility: Option<Arc<dyn Visibility>>) -> Result<Assembly, AssemblyError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    let tools = r#"
        [[tools.mock]]
        name = "create_ticket"
        version = "1.1"
        description = "Creates a ticket."
        behaviour = [{ echoes = true }]

        [[tools.mock]]
        name = "read_salary"
        description = "Reads a salary."
        effect = "read"
        domain = "people"
        behaviour = [{ echoes = true }]
    "#;
    fs::write(&path, format!("[subject]\n{subject}\n{tools}")).unwrap();
    let journal_url = Some("memory:".to_owned());
    Assembly::load(&path, Overrides { journal_url, visibility, ..Overrides::default() })
}

fn names(assembly: &Assembly) -> Vec<String> {
    assembly.discovery.capabilities().into_iter().map(|capability| capability.name).collect()
}

#[test]
fn a_domain_is_seen_by_subjects_that_list_it() {
    for (subject, seen) in [
        ("", ["create_ticket"].as_slice()),
        ("domains = []", &["create_ticket"]),
        ("domains = ['support']", &["create_ticket"]),
        ("domains = ['people']", &["create_ticket", "read_salary"]),
        ("domains = ['people']\nlevel = 'read'", &["read_salary"]),
    ] {
        assert_eq!(names(&assembled(subject, None).unwrap()), seen, "{subject}"); // R-133
    }
}

#[test]
fn a_pinned_tool_is_there_in_its_version_or_hidden_with_a_warning() {
    let fits = assembled("versions = { create_ticket = '1.1' }", None).unwrap();
    assert_eq!(names(&fits), ["create_ticket"]); // R-133
    assert!(fits.warnings.is_empty(), "{:?}", fits.warnings);
    assert_eq!(fits.direct_call("create_ticket".to_owned(), "{}".to_owned()).binding, fits.discovery.bind());
    assert_eq!(fits.discovery.bind().allowed.version("create_ticket"), Some("1.1"));

    let other = assembled("versions = { create_ticket = '1.0' }\ndomains = ['people']", None).unwrap();
    assert_eq!(names(&other), ["read_salary"]); // R-133
    assert_eq!(
        other.warnings,
        ["`subject.versions` pins `create_ticket` to version `1.0`, and version `1.1` is registered: it is hidden"]
    );
}

#[test]
fn a_pin_for_no_tool_is_an_error_that_names_the_nearest() {
    for (name, hint) in [("creat_ticket", Some("did you mean `create_ticket`?")), ("deploy", None)] {
        let error = assembled(&format!("versions = {{ {name} = '1.1' }}"), None).err().unwrap();
        assert_eq!(error.to_string(), format!("`subject.versions` names `{name}`, and no tool has this name")); // R-133
        assert_eq!(error.hint().as_deref(), hint);
    }
    // A name that the subject may not see is a name.
    assert!(assembled("versions = { read_salary = '1.0' }", None).is_ok());
}

/// Hides every tool that changes something.
struct OnlyReads;

impl Visibility for OnlyReads {
    fn sees(&self, _: &Subject, tool: &ToolSpec) -> bool {
        tool.effect() == Effect::Read
    }
}

#[test]
fn a_program_hides_tools_of_a_run_file() {
    let hidden = assembled("domains = ['people']", Some(Arc::new(OnlyReads))).unwrap();
    assert_eq!(names(&hidden), ["read_salary"]); // R-133
    // It narrows: what the file does not show, it does not show.
    assert!(names(&assembled("", Some(Arc::new(OnlyReads))).unwrap()).is_empty()); // R-133
}

/// Two tools, these rules, and this rule of the project's own.
#[cfg(feature = "cedar")]
#[expect(clippy::disallowed_methods, reason = "the run file is the test's own")]
fn ruled(mode: &str, rules: &str, visibility: Option<Arc<dyn Visibility>>) -> Assembly {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    fs::write(folder.path().join("rules.cedar"), rules).unwrap();
    let tools = r#"
        [[tools.mock]]
        name = "create_ticket"
        description = "Creates a ticket."
        behaviour = [{ echoes = true }]

        [[tools.mock]]
        name = "look_up"
        description = "Looks something up."
        effect = "read"
        behaviour = [{ echoes = true }]
    "#;
    let policy = format!("[policy]\nengine = \"cedar\"\nfiles = [\"rules.cedar\"]\nmode = \"{mode}\"\n");
    fs::write(&path, format!("{policy}{tools}")).unwrap();
    let journal_url = Some("memory:".to_owned());
    Assembly::load(&path, Overrides { journal_url, visibility, ..Overrides::default() }).unwrap()
}

#[cfg(feature = "cedar")]
#[test]
fn rules_and_a_programs_own_rule_both_hide() {
    let reads = r#"permit (principal, action in Effect::Action::"read", resource);"#;
    let own: Arc<dyn Visibility> = Arc::new(OnlyReads);
    assert_eq!(names(&ruled("enforce", "permit (principal, action, resource);", None)).len(), 2);
    assert_eq!(names(&ruled("enforce", reads, None)), ["look_up"]); // R-139
    assert_eq!(names(&ruled("enforce", "permit (principal, action, resource);", Some(Arc::clone(&own)))), ["look_up"]);
    let writes = r#"permit (principal, action in Effect::Action::"external", resource);"#;
    assert!(names(&ruled("enforce", writes, Some(own))).is_empty());
    // A question is seen, and so is what is only tried.
    assert_eq!(
        names(&ruled("enforce", "permit (principal, action, resource) when { context has approval };", None)).len(),
        2
    );
    assert_eq!(names(&ruled("shadow", reads, None)).len(), 2);
}
