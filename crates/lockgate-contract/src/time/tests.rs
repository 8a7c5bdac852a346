use super::*;

#[test]
fn what_is_late_can_still_be_read() {
    let late = Timestamp::from_millis(1_800_000_000_000).after(Duration::MAX);
    assert_eq!((late, late.to_string()), (Timestamp::LAST, "9999-12-31T23:59:59.999Z".to_owned()));
    assert_eq!(late.to_string().parse(), Ok(late));
    assert_eq!(late.after(Duration::from_millis(1)), late);
}

#[test]
fn writes_and_reads_known_times() {
    for (millis, text) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_400_123, "2000-02-29T00:00:00.123Z"),
        (1_796_205_600_000, "2026-12-02T10:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
    ] {
        assert_eq!(Timestamp::from_millis(millis).to_string(), text);
        assert_eq!(text.parse::<Timestamp>().unwrap(), Timestamp::from_millis(millis));
    }
}

#[test]
fn refuses_what_is_not_a_time() {
    for text in [
        "",
        "2026-02-30T00:00:00.000Z",
        "2026-11-29T24:00:00.000Z",
        "2026-11-29 10:00:00.000Z",
        "2026-1１-29T10:00:00.0Z",
    ] {
        assert!(text.parse::<Timestamp>().is_err(), "{text}");
    }
}
