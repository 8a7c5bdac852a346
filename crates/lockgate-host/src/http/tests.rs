use super::is_public;

#[test]
fn a_public_address_is_nobodys_own() {
    for public in ["8.8.8.8", "1.1.1.1", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808"] {
        assert!(is_public(public.parse().unwrap()), "{public}");
    }
    for other in [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "255.255.255.255",
        "224.0.0.1",
        "198.18.0.1",
        "::1",
        "::",
        "fe80::1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:db8::1",
    ] {
        assert!(!is_public(other.parse().unwrap()), "{other}");
    }
}
