use super::*;

#[test]
fn counts_whole_milliseconds_since_1970() {
    let time = UNIX_EPOCH + Duration::from_micros(1_700_000_000_123_999);
    assert_eq!(timestamp(time), Timestamp::from_millis(1_700_000_000_123));
}

#[test]
fn a_clock_before_1970_reads_1970() {
    let time = UNIX_EPOCH - Duration::from_secs(5);
    assert_eq!(timestamp(time), Timestamp::from_millis(0));
}

#[test]
fn now_is_after_the_year_this_was_written() {
    let written: Timestamp = "2024-01-01T00:00:00.000Z".parse().expect("a time");
    assert!(SystemClock.now() > written);
}

#[test]
fn monotonic_time_goes_on_and_is_one_for_all_clocks() {
    let mut last = SystemClock.monotonic();
    while last.is_zero() {
        last = SystemClock.monotonic();
    }
    for _ in 0..1000 {
        let next = SystemClock.monotonic();
        assert!(next >= last);
        last = next;
    }
}
