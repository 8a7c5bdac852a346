use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use super::parse;
use crate::document::Number;

fn number(text: &str) -> Number<'_> {
    Number::parse(text).unwrap()
}

#[test]
fn args_bigint_exact() {
    for digits in [
        "9007199254740993",
        "7960607143101464576",
        "123456789012345678901234567890",
        "-123456789012345678901234567890",
        "340282366920938463463374607431768211455",
        "-170141183460469231731687303715884105728",
    ] {
        let document = parse(&format!("{{\"id\":{digits}}}"));
        assert_eq!(document.canonical(), document.text());
        assert_eq!(document.root().get("id").unwrap().raw(), digits);
        assert_eq!(serde_json::to_string(&document).unwrap(), document.text());
    }
}

#[test]
fn one_value_has_one_decimal() {
    for (decimal, spellings) in [
        ("0", &["0", "-0", "0.0", "-0.00", "0e5", "0E-5", "-0e0", "0.000e+9"][..]),
        ("1", &["1", "1.0", "1e0", "1E+0", "10e-1", "0.1e1", "0.01e2", "1.000"]),
        ("100", &["100", "1e2", "1.0E2", "100.0", "10000e-2", "0.0001e6"]),
        ("-0.1", &["-0.1", "-0.10", "-1e-1", "-10e-2", "-0.01e1"]),
        ("12.5", &["12.5", "12.50", "1.25e1", "125e-1", "0.125e2"]),
        (
            "9007199254740993",
            &["9007199254740993", "9007199254740993.0", "9007199254740.993e3", "9.007199254740993e15"],
        ),
        ("10000000000000000000000000000000000000000", &["1e40", "10000000000000000000000000000000000000000"]),
        ("1e41", &["1e41", "100000000000000000000000000000000000000000", "0.1e42"]),
        ("-1.5e60", &["-1.5e60", "-15E+59", "-0.00015e64"]),
        ("0.00000000000000000000000000000000000000001", &["1e-41", "0.1e-40"]),
        ("1e-42", &["1e-42", "0.1e-41", "10e-43", "0.000000000000000000000000000000000000000001"]),
        ("1.2e-50", &["1.2e-50", "12e-51"]),
        ("5e-324", &["5e-324"]),
        ("1.7976931348623157e308", &["1.7976931348623157e308", "17976931348623157e292"]),
    ] {
        for spelling in spellings {
            assert_eq!(number(spelling).decimal(), decimal, "{spelling}");
            assert_eq!(number(spelling), number(decimal), "{spelling}");
            assert_eq!(number(decimal).decimal(), decimal);
            assert_eq!(parse(spelling).canonical(), decimal);
        }
    }
}

#[test]
fn what_is_a_decimal_already_is_not_made_again() {
    let longest = "1".repeat(40);
    for text in ["0", "12", "-12.5", &longest] {
        assert!(matches!(number(text).decimal(), Cow::Borrowed(same) if same == text), "{text}");
    }
    for text in ["-0", "1.0", "1e2", &format!("{longest}1")] {
        assert!(matches!(number(text).decimal(), Cow::Owned(_)), "{text}");
    }
}

#[test]
fn numbers_are_shown_as_written_and_compared_and_hashed_by_value() {
    let hash = |text: &str| BuildHasherDefault::<DefaultHasher>::default().hash_one(number(text));
    assert_eq!(format!("{} {:?}", number("1.0"), number("1e2")), "1.0 1e2");
    assert_eq!(number("1.0").partial_cmp(&number("2")), Some(Ordering::Less));
    assert_eq!(hash("1.0"), hash("1"));
    assert_ne!(hash("1"), hash("2"));
}

#[test]
fn order_goes_by_value() {
    let ascending = [
        "-1e300",
        "-1e41",
        "-9007199254740993",
        "-9007199254740992",
        "-10",
        "-9.99",
        "-1.5",
        "-1",
        "-0.1",
        "-1e-300",
        "0",
        "1e-300",
        "0.01",
        "0.1",
        "0.10000000000000000000001",
        "0.11",
        "1",
        "1.5",
        "2",
        "9.99",
        "10",
        "9007199254740992",
        "9007199254740992.5",
        "9007199254740993",
        "1e41",
        "1e300",
    ];
    for (left_place, left) in ascending.iter().enumerate() {
        for (right_place, right) in ascending.iter().enumerate() {
            assert_eq!(number(left).cmp(&number(right)), left_place.cmp(&right_place), "{left} {right}");
        }
    }
    assert_eq!(number("-0").cmp(&number("0.0")), Ordering::Equal);
}

#[test]
fn integers_are_told_by_value() {
    for text in ["1", "1.0", "1e0", "10e-1", "0", "-0.0", "1e300", "1.5e1", "123456789012345678901234567890"] {
        assert!(number(text).is_integer(), "{text}");
    }
    for text in ["1.5", "1e-1", "0.1", "15e-1", "1e-400", "9007199254740993.5"] {
        assert!(!number(text).is_integer(), "{text}");
        assert_eq!(number(text).as_i128(), None);
        assert_eq!(number(text).as_u64(), None);
    }
    assert!(number("1").is_written_as_integer());
    assert!(!number("1.0").is_written_as_integer());
}

#[test]
fn integers_are_exact_or_absent() {
    assert_eq!(number("9223372036854775807").as_i64(), Some(i64::MAX));
    assert_eq!(number("9223372036854775808").as_i64(), None);
    assert_eq!(number("-9223372036854775808").as_i64(), Some(i64::MIN));
    assert_eq!(number("-9223372036854775809").as_i64(), None);
    assert_eq!(number("9.223372036854775807e18").as_i64(), Some(i64::MAX));
    assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!(number("18446744073709551616").as_u64(), None);
    assert_eq!(number("-1").as_u64(), None);
    assert_eq!(number("-0").as_u64(), Some(0));
    assert_eq!(number("-0").as_i64(), Some(0));
    assert_eq!(number(&u128::MAX.to_string()).as_u128(), Some(u128::MAX));
    assert_eq!(number("340282366920938463463374607431768211456").as_u128(), None);
    assert_eq!(number(&i128::MIN.to_string()).as_i128(), Some(i128::MIN));
    assert_eq!(number(&i128::MAX.to_string()).as_i128(), Some(i128::MAX));
    assert_eq!(number("170141183460469231731687303715884105728").as_i128(), None);
    assert_eq!(number("-170141183460469231731687303715884105729").as_i128(), None);
    assert_eq!(number("1e38").as_u128(), Some(10u128.pow(38)));
    assert_eq!(number("1e39").as_u128(), None);
    assert_eq!(number("1e300").as_u128(), None);
}

#[test]
fn a_float_never_changes_an_integer() {
    let same = |text: &str| number(text).as_lossless_f64().map(f64::to_bits);
    for exact in [
        "9007199254740992",
        "9007199254740994",
        "1152921504606846976",
        "1152921504606847000",
        "1e23",
        "1e300",
        "0",
        "-7",
        "1.7976931348623157e308",
        "123456789012345680000",
    ] {
        assert_eq!(same(exact), Some(exact.parse::<f64>().unwrap().to_bits()), "{exact}");
    }
    for lossy in [
        "9007199254740993",
        "9007199254740993.0",
        "9.007199254740993e15",
        "123456789012345678901234567890",
        "1152921504606846977",
        "-9007199254740993",
    ] {
        assert_eq!(same(lossy), None, "{lossy}");
        assert!(number(lossy).as_f64().is_some());
    }
    for fraction in ["0.1", "0.1234567890123456789012345", "1e-400"] {
        assert_eq!(same(fraction), Some(fraction.parse::<f64>().unwrap().to_bits()), "{fraction}");
    }
    assert_eq!(number("16777216").as_lossless_f32().map(f32::to_bits), Some(16_777_216_f32.to_bits()));
    assert_eq!(number("16777217").as_lossless_f32(), None);
    assert_eq!(number("1e39").as_lossless_f32(), None);
}

#[test]
fn only_whole_json_numbers_are_numbers() {
    for text in ["", "+1", "01", "1 ", " 1", ".5", "1.", "1e", "NaN", "1e400", "1x", "0x1", "--1"] {
        assert!(Number::parse(text).is_none(), "{text}");
    }
}

#[test]
fn the_copy_for_serde_json_keeps_64_bits() {
    let copy = |text: &str| number(text).to_json_number().unwrap().to_string();
    assert_eq!(copy("18446744073709551615"), "18446744073709551615");
    assert_eq!(copy("-9223372036854775808"), "-9223372036854775808");
    assert_eq!(copy("1.0"), "1.0");
    assert_eq!(copy("18446744073709551616"), "1.8446744073709552e+19");
}
