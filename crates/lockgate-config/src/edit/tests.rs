use std::path::Path;

use super::*;
use crate::RunFile;

const FILE: &str = "# What the helper may use.\ntask = 'Look.' # for now\n\n[tools] # ours\ncore = ['read']\n\n# The team's own.\n[mcp.git]\ncommand = ['mcp-server-git'] # pinned by the image\neffect = 'read'\n";

fn program(words: &[&str]) -> NewServer {
    NewServer { command: Some(words.iter().map(|word| (*word).to_owned()).collect()), ..NewServer::default() }
}

#[test]
fn everything_else_stays_as_it_stands() {
    let added = add_server(FILE, "files", &program(&["npx", "-y", "server-filesystem", "/srv/a b"])).unwrap();
    assert!(added.starts_with(FILE), "{added}");
    let file = RunFile::parse(Path::new("lockgate.toml"), &added).unwrap();
    assert_eq!(file.mcp.keys().collect::<Vec<_>>(), ["files", "git"]);
    assert_eq!(file.mcp["files"].command.as_ref().unwrap()[3], "/srv/a b");
    assert_eq!(remove_server(&added, "files").unwrap().trim_end(), FILE.trim_end());
}

#[test]
fn an_empty_file_gets_its_first_server() {
    let mut server = program(&["x"]);
    server.env_set.insert("TOKEN".to_owned(), "${MY_TOKEN}".to_owned());
    let text = add_server("", "one", &server).unwrap();
    assert_eq!(text, "[mcp.one]\ncommand = [\"x\"]\nenv_set = { TOKEN = \"${MY_TOKEN}\" }\n");
    assert!(RunFile::parse(Path::new("lockgate.toml"), &text).is_ok());
}

#[test]
fn nothing_is_overwritten() {
    assert_eq!(add_server(FILE, "git", &program(&["x"])), Err(EditError::Taken("git".to_owned())));
    assert_eq!(remove_server(FILE, "hub"), Err(EditError::NotThere("hub".to_owned())));
    assert!(matches!(add_server("a =", "x", &program(&["x"])), Err(EditError::Toml(_))));
    assert_eq!(add_server("mcp = 3", "x", &program(&["x"])), Err(EditError::NoTables));
}
