use super::*;

#[test]
fn what_a_server_said_last_stands_in_the_log_without_its_token() {
    let token = "ghp_".to_owned() + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let line = format!("WARN server=\"git\" reason=\"it said: no access with {token}\"\n");
    let mut log = Scrubbed(Vec::new());
    log.write_all(line.as_bytes()).unwrap();
    let written = String::from_utf8(log.0).unwrap();
    assert!(!written.contains(&token), "{written}");
    assert!(written.starts_with("WARN server=\"git\"") && written.ends_with("\"\n"), "{written}");
}
