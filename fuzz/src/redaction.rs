//! Any text on its way out: scrubbed once, it holds no known secret and is scrubbed for good.

use std::path::Path;
use std::sync::LazyLock;

use lockgate::contract::document::{Document, Limits};
use lockgate::prelude::*;
use lockgate::redact::Scrubber;

/// Two values that overlap.
const SECRETS: [(&str, &str); 2] = [("s0", "swordfish"), ("s1", "wordfish-2x")];

static SCRUBBER: LazyLock<Scrubber> = LazyLock::new(|| {
    let mut builder = ScrubberBuilder::new();
    for (name, value) in SECRETS {
        builder.secret(name, SecretValue::new(value)).unwrap();
    }
    builder.build().unwrap()
});

/// Scrubs the text, and as a document where it is one.
pub fn run(bytes: &[u8]) {
    let bytes = super::repeated(bytes);
    let text = String::from_utf8_lossy(&bytes);
    let scrubber = &*SCRUBBER;
    let clean = scrubber.scrub(&text);
    for (_, secret) in SECRETS {
        assert!(!clean.contains(secret), "{clean:?}");
    }
    assert_eq!(scrubber.scrub(&clean), clean);
    if let Ok(document) = Document::parse(&*text, Limits::OUTPUT)
        && let Some(clean) = scrubber.scrub_document(&document)
    {
        let again = Document::parse(clean.text(), Limits::OWN).unwrap();
        assert!(scrubber.scrub_document(&again).is_none(), "{clean}");
    }
}

/// Forms in which secrets travel, and real traffic, which holds none.
pub fn seeds(root: &Path) -> Vec<Vec<u8>> {
    let files = super::files(&root.join("testdata/provider-traffic"), ".json");
    let traffic = files.iter().map(|path| super::text(path).into_bytes());
    let tests = super::text(&root.join("crates/lockgate-redact/rules.toml"));
    let rules = tests.split("\n\n[[rule]]").map(|rule| rule.as_bytes().to_vec());
    let forms = [
        r#"{"password":"hunter2-hunter2","n":[1,{"api_key":"swordfish"}],"x":"Basic dXNlcjpwYXNz"}"#,
        r#"{"password𜼰":".","passwordé":"~/x","pwd😀":"/home"}"#,
        "passwordé=/x pwd😀=~/y",
        "Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345\nCookie: sid=0123456789abcdef0123\n",
        "https://user:swordfish@example.com/?token=abcdefghijklmnop&q=c3dvcmRmaXNo",
        "export DATABASE_PASSWORD='wordfish-2x' # ${TOKEN} <token> changeme",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n",
        "\\u0073wordfish %73wordfish &#115;wordfish 73776f726466697368 [redacted:s0#1234]",
    ];
    traffic.chain(rules).chain(forms.map(|form| form.as_bytes().to_vec())).collect()
}
