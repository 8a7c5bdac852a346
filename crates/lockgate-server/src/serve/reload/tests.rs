use std::path::Path;

use super::*;

#[test]
fn what_does_not_count_at_once_is_said() {
    let file = |text: &str| RunFile::parse(Path::new("lockgate.toml"), text).unwrap();
    let before = file("");
    let cases: [(&str, &[&str]); 8] = [
        ("", &[]),
        ("[mcp.s]\ncommand = ['s']\n", &[]),
        ("[server]\napprove_in_client = true\n", &[]),
        ("[server]\nbind = '127.0.0.1:1'\n", &["server"]),
        ("[server]\npublic_url = 'https://gate.example.com'\n", &["server"]),
        ("[subject]\nscopes = ['tickets']\n", &["subject"]),
        ("[auth]\nanonymous = true\n", &["auth"]),
        ("[journal]\nurl = 'memory:'\n", &["journal"]),
    ];
    for (after, expected) in cases {
        assert_eq!(later(&before, &file(after)), expected, "{after}");
    }
}
