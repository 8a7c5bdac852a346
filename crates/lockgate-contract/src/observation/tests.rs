use super::*;
use crate::outcome::TABLE;

#[test]
fn without_more_the_sentences_are_the_tables() {
    let sentences = SyntheticObservations::new();
    for row in TABLE {
        assert_eq!(sentences.sentence(row.code), row.model_text);
    }
}

#[test]
fn a_configured_sentence_is_the_same_every_time() {
    let configured = || SyntheticObservations::new().with(Code::PolicyDenied, "No.").with(Code::PolicyDenied, "Never.");
    let (one, other) = (configured(), configured());
    for row in TABLE {
        assert_eq!(one.sentence(row.code), other.sentence(row.code));
        let expected = if row.code == Code::PolicyDenied { "Never." } else { row.model_text };
        assert_eq!(one.sentence(row.code), expected);
    }
}
