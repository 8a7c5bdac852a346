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
