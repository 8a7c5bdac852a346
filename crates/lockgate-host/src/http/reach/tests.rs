use std::time::Duration;

use reqwest::Url;

use super::{Reach, Zone};

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[test]
fn every_address_has_its_zone_however_it_is_written() {
    use Zone::{LinkLocal, Loopback, Nowhere, Private, Public};
    for (zone, addresses) in [
        (Public, &["8.8.8.8", "100.128.0.1", "2606:4700::1111", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"][..]),
        (
            Private,
            &["10.0.0.1", "172.31.255.1", "192.168.1.1", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1", "2002:a00:1::"],
        ),
        (LinkLocal, &["169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254"]),
        (Loopback, &["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "::127.0.0.1"]),
        (
            Nowhere,
            &[
                "0.0.0.0",
                "255.255.255.255",
                "224.0.0.1",
                "::",
                "ff02::1",
                "198.18.0.1",
                "192.0.2.1",
                "2001:db8::1",
                "::ffff:0.0.0.0",
            ],
        ),
    ] {
        for address in addresses {
            assert_eq!(Zone::of(address.parse().unwrap()), zone, "{address}");
        }
    }
}

#[tokio::test]
async fn who_speaks_with_a_machine_reaches_its_neighbours_and_no_other_zone() {
    let loopback = Reach::around(&url("http://localhost:1/")).await;
    assert!(loopback.check(&url("http://[::1]:2/")).is_ok());
    assert!(loopback.check(&url("http://10.0.0.1/")).is_err());
    let private = Reach::around(&url("https://10.1.1.1/")).await;
    assert!(private.check(&url("https://192.168.0.1/")).is_ok());
    assert!(private.check(&url("https://127.0.0.1/")).is_err());
    let public = Reach::around(&url("https://8.8.8.8/")).await;
    assert_eq!(public, Reach::public().and(Zone::Public));
    let error = public.check(&url("http://169.254.169.254/latest")).unwrap_err();
    assert_eq!(error.to_string(), "`169.254.169.254` is a link-local address, which is not reached from here");
    // However a browser would read it.
    assert!(public.check(&url("http://0x7f000001/")).is_err());
    assert!(public.check(&url("http://2130706433/")).is_err());
}

#[tokio::test]
async fn a_name_that_leads_out_of_reach_is_not_followed() {
    let to = url("http://localhost:9/");
    let client = Reach::public().client(&to, Duration::from_secs(5)).unwrap();
    let error = super::super::explain(client.get(to).send().await.unwrap_err());
    assert!(error.contains("is this machine, which is not reached from here"), "{error}");
}
