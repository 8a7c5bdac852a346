use super::*;
use crate::core::workspace::Workspace;

#[test]
fn a_session_that_only_reads_has_no_tool_that_does_more() {
    let workspace = Workspace::new();
    let root = Arc::new(Root::open(workspace.root.path()).unwrap());
    let tools = read_tools(&root).unwrap();
    let names: Vec<_> = tools.iter().map(ToolSpec::name).collect();
    assert_eq!(names, ["read_file", "list_dir", "glob", "grep", "read_artifact"]);
    assert!(tools.iter().all(|tool| tool.effect() == Effect::Read && tool.source() == SOURCE));
}
