use std::path::Path;

use super::super::RunFile;
use super::*;

fn parse(text: &str) -> Result<ServerTable, String> {
    let file = RunFile::parse(Path::new("lockgate.toml"), &format!("[server]\n{text}"));
    file.map(|file| file.server.unwrap()).map_err(|error| format!("{error} {}", error.hint().unwrap_or_default()))
}

#[test]
fn without_a_word_it_listens_to_this_machine_only() {
    let server = parse("").unwrap();
    assert_eq!((server.bind(), server.path()), ("127.0.0.1:8377", "/mcp"));
    assert!(!server.approve_in_client);
    assert!(server.bind().parse::<SocketAddr>().unwrap().ip().is_loopback());
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (text, word) in [
        ("bind = 'localhost'", "server.bind"),
        ("bind = '127.0.0.1'", "server.bind"),
        ("path = 'mcp'", "server.path"),
        ("path = '/'", "server.path"),
        ("path = '/mcp/'", "server.path"),
        ("path = '/m p'", "server.path"),
        ("path = '/approvals'", "taken"),
        ("path = '/runs/a'", "taken"),
        ("public_url = 'tools.example.com'", "public_url"),
        ("public_url = 'https://tools.example.com/mcp'", "public_url"),
        ("origins = ['chat.example.com']", "origins"),
        ("hosts = ['https://tools.example.com']", "hosts"),
        ("max_body_bytes = 0", "max_body_bytes"),
        ("bund = 'x'", "did you mean `bind`"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(word), "{text}: {error}");
    }
    assert!(parse("path = '/runsheet'\npublic_url = 'https://tools.example.com:8443'").is_ok());
}
