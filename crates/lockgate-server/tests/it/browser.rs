//! A browser without scripts: it keeps cookies, fills in forms and follows no link by itself.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use regex::Regex;

use crate::web::{self, Answer};
use crate::world::World;

pub(super) struct Browser {
    address: SocketAddr,
    pub(super) cookies: BTreeMap<String, String>,
}

impl Browser {
    pub(super) fn new(world: &World) -> Self {
        Self { address: world.address, cookies: BTreeMap::new() }
    }

    /// A browser of somebody who logged in.
    pub(super) async fn of(world: &World, token: &str) -> Self {
        Self::at(world.address, token).await
    }

    /// The same at this address.
    pub(super) async fn at(address: SocketAddr, token: &str) -> Self {
        let mut browser = Self { address, cookies: BTreeMap::new() };
        let form = browser.get("/login").await;
        let done = browser.submit(&form, "/login", &[("token", token)]).await;
        assert_eq!((done.status, done.header("location")), (303, Some("/approvals")), "{done:?}");
        browser
    }

    pub(super) async fn get(&mut self, target: &str) -> Answer {
        self.send("GET", target, &[], "").await
    }

    /// Sends the form of a page: its hidden fields, with others in their place.
    pub(super) async fn submit(&mut self, page: &Answer, target: &str, fields: &[(&str, &str)]) -> Answer {
        let body = filled(page, target, fields);
        self.post(target, &body).await
    }

    pub(super) async fn post(&mut self, target: &str, body: &str) -> Answer {
        let form = ("content-type", "application/x-www-form-urlencoded");
        self.send("POST", target, &[form, ("sec-fetch-site", "same-origin"), ("origin", "null")], body).await
    }

    pub(super) async fn send(&mut self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let cookie = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
        let mut headers = headers.to_vec();
        headers.push(("accept", "text/html,application/xhtml+xml"));
        if !cookie.is_empty() {
            headers.push(("cookie", &cookie));
        }
        let answer = web::send(self.address, method, target, &headers, body).await;
        for cookie in answer.all("set-cookie") {
            let (name, rest) = cookie.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }
}

/// What a browser would send of the form that leads to `target`.
pub(super) fn filled(page: &Answer, target: &str, fields: &[(&str, &str)]) -> String {
    let form =
        page.body.split("<form").find(|form| form.contains(&format!("action=\"{target}\""))).unwrap_or_else(|| {
            panic!("there is no form for {target}: {}", page.body);
        });
    let hidden = Regex::new("type=\"hidden\" name=\"([a-z]+)\" value=\"([^\"]*)\"").unwrap();
    let mut all: BTreeMap<String, String> =
        hidden.captures_iter(form).map(|found| (found[1].to_owned(), found[2].to_owned())).collect();
    all.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    all.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect::<Vec<_>>().join("&")
}

fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
