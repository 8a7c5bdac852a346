use lockgate_contract::document::Document;

use super::*;

fn read(text: &str) -> Usage {
    usage_of(Document::parse(text, crate::wire::limits(text.len())).unwrap().root())
}

#[test]
fn dollars_are_counted_in_millionths_and_never_too_few() {
    for (dollars, expected) in [
        ("0", Some(0)),
        ("0.0145476", Some(14_548)),
        ("1", Some(1_000_000)),
        ("12.5", Some(12_500_000)),
        ("9.78e-05", Some(98)),
        ("1e-7", Some(1)),
        ("1E-30", Some(1)),
        ("0.000001", Some(1)),
        ("0.0000010", Some(1)),
        ("2.5e2", Some(250_000_000)),
        ("1e400", None),
        ("-1", None),
        ("\"1\"", None),
        ("null", None),
        ("1e", None),
    ] {
        assert_eq!(microusd(dollars), expected, "{dollars}");
    }
}

#[test]
fn tokens_of_reasoning_are_among_those_that_were_written() {
    let beside = r#"{"prompt_tokens": 307, "completion_tokens": 26, "total_tokens": 588, "cost_in_usd_ticks": 1777000,
        "prompt_tokens_details": {"cached_tokens": 244}, "completion_tokens_details": {"reasoning_tokens": 255}}"#;
    let expected = Usage {
        input_tokens: Some(307),
        output_tokens: Some(281),
        cached_input_tokens: Some(244),
        reasoning_tokens: Some(255),
        cost_microusd: Some(178),
    };
    assert_eq!(read(beside), expected);
    let within = r#"{"input_tokens": 307, "output_tokens": 281, "total_tokens": 588, "cost": 0.000178,
        "input_tokens_details": {"cached_tokens": 244}, "output_tokens_details": {"reasoning_tokens": 255}}"#;
    assert_eq!(read(within), expected);
}

#[test]
fn what_is_not_counted_is_not_there() {
    assert_eq!(read("{}"), Usage::default());
    assert_eq!(
        read(r#"{"prompt_tokens": null, "completion_tokens": -1, "prompt_tokens_details": 3}"#),
        Usage::default()
    );
    assert_eq!(read(r#"{"prompt_cache_hit_tokens": 3}"#).cached_input_tokens, Some(3));
}
