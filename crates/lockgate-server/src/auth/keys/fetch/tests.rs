use super::Place;

#[test]
fn keys_are_over_https_or_on_this_machine() {
    for good in ["https://id.example.com/keys", "http://127.0.0.1:1/keys", "http://localhost/keys", "http://[::1]/keys"]
    {
        assert!(Place::new(good, false).is_ok(), "{good}");
    }
    for wrong in
        ["http://id.example.com/keys", "http://10.0.0.1/", "file:///etc/passwd", "keys", "https://a:b@id.example.com/"]
    {
        assert!(Place::new(wrong, true).is_err(), "{wrong}");
    }
}

#[test]
fn a_host_in_a_private_network_is_asked_only_where_that_is_allowed() {
    let may = |url, allow, address: &str| Place::new(url, allow).unwrap().may_be_at(address.parse().unwrap());
    let https = "https://id.example.com/keys";
    assert!(may(https, false, "93.184.215.14"));
    for private in ["10.0.0.1", "169.254.169.254", "127.0.0.1", "::1", "fd00::1", "::ffff:10.0.0.1"] {
        assert!(!may(https, false, private), "{private}");
        assert!(may(https, true, private), "{private}");
    }
    // A name of this machine that means another one is not asked without encryption.
    assert!(!may("http://localhost/keys", true, "10.0.0.1"));
    assert!(may("http://localhost/keys", false, "127.0.0.1"));
}
