use super::*;

#[test]
fn reads_whole_numbers_with_a_unit() {
    for (text, millis) in
        [("500ms", 500), ("2s", 2000), ("10m", 600_000), ("1h", 3_600_000), ("30d", 2_592_000_000), ("0s", 0)]
    {
        assert_eq!(text.parse::<TimeSpan>().unwrap().as_duration(), Duration::from_millis(millis), "{text}");
    }
}

#[test]
fn refuses_everything_else() {
    for text in [
        "",
        "s",
        "2",
        "2 s",
        " 2s",
        "2S",
        "-2s",
        "1.5s",
        "2sec",
        "2days",
        "1h30m",
        "٣s",
        "99999999999999999999s",
        "18446744073709551615h",
    ] {
        let error = text.parse::<TimeSpan>().unwrap_err().to_string();
        assert_eq!(
            error,
            format!("`{text}` is not a duration: write a whole number and `ms`, `s`, `m`, `h` or `d`, such as `500ms`")
        );
    }
}
