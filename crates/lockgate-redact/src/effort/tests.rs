use std::time::{Duration, Instant};

use lockgate_contract::ports::Redactor as _;

use crate::{Scrubber, ScrubberBuilder};

fn scrubber() -> Scrubber {
    ScrubberBuilder::new().build().unwrap()
}

/// Found while fuzzing: each beginning was followed to the same far end, and none of them is a secret.
#[test]
fn what_is_followed_in_vain_too_often_goes() {
    let scrubber = scrubber();
    for piece in ["A_TOKEN=$", "token=[", "pwd=/", "cookie: ", "-eyJhbGciOiJIUzI1"] {
        let few = piece.repeat(40);
        assert!(!scrubber.scrub(&few).contains("[redacted:"), "{few}");
        let clean = scrubber.scrub(&piece.repeat((128 << 10) / piece.len())).into_owned();
        assert!(clean.contains("[redacted:") && clean.len() < 64 << 10, "{piece}: {}", clean.len());
        assert_eq!(scrubber.scrub(&clean), clean);
    }
}

/// Found while fuzzing: from each last line, 64 KiB were searched for the first one.
#[test]
#[expect(clippy::disallowed_methods, reason = "it is about the machine's time")]
fn a_text_of_last_lines_is_looked_at_once() {
    let text = "-----END PRIVATE KEY-----".repeat(40_000);
    let begun = Instant::now();
    assert_eq!(scrubber().scrub(&text), text);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}
