use super::{fault, parse};
use crate::document::{Document, Fault, Kind, Limits};

#[track_caller]
fn refused_at(text: &str, fault: Fault, offset: usize, pointer: &str) {
    let error = Document::parse(text, Limits::ARGUMENTS).unwrap_err();
    assert_eq!((error.fault(), error.offset(), error.pointer()), (fault, offset, pointer), "{text}");
}

#[test]
fn every_kind_is_read() {
    let document = parse(r#" [null, true, false, 0, -1.5e3, "s", [], {}, {"k": [1]}] "#);
    let kinds: Vec<_> = document.root().elements().map(|node| node.kind()).collect();
    assert_eq!(
        kinds,
        [
            Kind::Null,
            Kind::Bool,
            Kind::Bool,
            Kind::Number,
            Kind::Number,
            Kind::String,
            Kind::Array,
            Kind::Object,
            Kind::Object
        ]
    );
}

#[test]
fn the_text_stays_byte_for_byte() {
    let text = " {\"b\" : 1.50 ,\t\"a\":\"\\u0041\"}\r\n";
    assert_eq!(parse(text).text(), text);
}

#[test]
fn what_is_not_json_is_refused() {
    for text in [
        "",
        " ",
        "\u{feff}{}",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "[1",
        "[1,",
        "{\"a\":1,}",
        "[1,]",
        "[,1]",
        "[1,,2]",
        "{,}",
        "{\"a\" 1}",
        "{\"a\":,}",
        "{\"to\": ,}",
        "{1:2}",
        "{a:1}",
        "{'a':1}",
        "'a'",
        "[1 2]",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1]",
        "[1}",
        "{\"a\"}",
        "[\"a\":1]",
        ":",
        ",",
        "+1",
        "01",
        "-01",
        "00",
        ".5",
        "1.",
        "1.e1",
        "-",
        "-.5",
        "--1",
        "1e",
        "1e+",
        "1E-",
        "0x10",
        "1_000",
        "1.5.2",
        "1e5.5",
        "1-1",
        "Nan",
        "nan",
        "NaNs",
        "-NaN",
        "+Infinity",
        "Infinit",
        "-Infinit",
        "Infinity8",
        "inf",
        "nul",
        "nulll",
        "None",
        "True",
        "TRUE",
        "tru",
        "truefalse",
        "undefined",
        "\"\\x41\"",
        "\"\\a\"",
        "\"\\'\"",
        "\"\\\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\U0041\"",
        "\"\\u+123\"",
        "\"\\ud800\\u12\"",
        "\"\\ud800\\uzzzz\"",
        "\"a\nb\"",
        "\"a\tb\"",
        "\"a\0b\"",
        "\"\u{1f}\"",
        "\0",
        "{}\0",
        "// c\n{}",
        "/* c */{}",
        "{/**/}",
        "# c\n1",
        "\u{a0}1",
        "\u{b}1",
        "\u{c}1",
        "\u{2028}1",
        "{'to':'bob','amount':5}",
        "{\"a\":undefined}",
        "`{}`",
        "```json\n{}\n```",
    ] {
        let expected = if text == "{}\0" { Fault::TrailingCharacters } else { Fault::NotJson };
        assert_eq!(fault(text), expected, "{text:?}");
    }
}

#[test]
fn text_after_the_value_is_refused() {
    refused_at("{}{}", Fault::TrailingCharacters, 2, "");
    refused_at("{\"a\":1} {\"b\":2}", Fault::TrailingCharacters, 8, "");
    for text in ["1 2", "null,", "[]]", "{}}", "\"a\"b", "[] // c", "{} trailing"] {
        assert_eq!(fault(text), Fault::TrailingCharacters, "{text}");
    }
}

#[test]
fn a_repeated_key_is_refused_with_its_place() {
    refused_at("{\"to\":\"bob\",\"amount\":1,\"amount\":1000}", Fault::DuplicateKey, 23, "/amount");
    refused_at(r#"{"a":1,"\u0061":2}"#, Fault::DuplicateKey, 7, "/a");
    refused_at(r#"{"\u00e9":1,"é":2}"#, Fault::DuplicateKey, 12, "/é");
    refused_at(r#"{"":1,"":2}"#, Fault::DuplicateKey, 6, "/");
    refused_at(r#"[0,{"x":{"~/":1,"~/":1}}]"#, Fault::DuplicateKey, 16, "/1/x/~0~1");
    refused_at(r#"{"\ud83d\ude00":1,"😀":2}"#, Fault::DuplicateKey, 18, "/😀");
}

#[test]
fn keys_that_only_look_alike_are_kept_apart() {
    for text in [
        r#"{"a":1,"A":2}"#,
        r#"{"\u00e9":1,"e\u0301":2}"#,
        r#"{"a":{"b":1},"b":{"b":1}}"#,
        r#"{"\u0000":1,"":2}"#,
        r#"{"__proto__":1,"constructor":2}"#,
        r#"[{"a":1},{"a":1}]"#,
    ] {
        parse(text);
    }
}

#[test]
fn args_deep_nesting() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(fault(&nested(3000)), Fault::TooDeep);
    assert_eq!(fault(&"[".repeat(1_000_000)), Fault::TooDeep);
    assert_eq!(fault(&"{\"a\":".repeat(100_000)), Fault::TooDeep);
    parse(&nested(128));
    refused_at(&nested(129), Fault::TooDeep, 128, &"/0".repeat(128));
    let no_limit = Limits { max_bytes: usize::MAX, max_depth: usize::MAX };
    let deepest = Document::parse(nested(Limits::DEEPEST), no_limit).unwrap();
    assert!(Document::parse(nested(Limits::DEEPEST + 1), no_limit).is_err());
    assert_eq!(deepest.canonical(), deepest.text());
    parse(&format!("[{}]", vec!["[]"; 1000].join(",")));
}

#[test]
fn a_large_text_is_refused_before_it_is_read() {
    let limits = Limits { max_bytes: 8, max_depth: 4 };
    Document::parse("\"123456\"", limits).unwrap();
    let error = Document::parse("not json at all", limits).unwrap_err();
    assert_eq!((error.fault(), error.offset()), (Fault::TooLarge, 8));
}

#[test]
fn args_nan_infinity() {
    refused_at("{\"mean\": NaN}", Fault::NonFiniteNumber, 9, "/mean");
    refused_at("[1,[2,Infinity]]", Fault::NonFiniteNumber, 6, "/1/1");
    refused_at("{\"a\":{\"b\":-Infinity}}", Fault::NonFiniteNumber, 10, "/a/b");
    for text in [
        "1e400",
        "-1e400",
        "1e99999999999",
        "1e-99999999999",
        "0e99999999999",
        "1.8e308",
        "123456789e301",
        "1.7976931348623159e308",
    ] {
        assert_eq!(fault(text), Fault::NonFiniteNumber, "{text}");
    }
    assert_eq!(fault(&"9".repeat(400)), Fault::NonFiniteNumber);
    for text in
        ["1e308", "1.7976931348623157e308", "-1.7e308", "1e-400", "0e400", "0.0000001e310", "1e0000000000000005"]
    {
        parse(text);
    }
    parse(&"9".repeat(308));
    parse(&format!("0.{}", "9".repeat(5000)));
}

#[test]
fn args_lone_surrogate() {
    refused_at(r#"{"to":"\ud800","amount":5}"#, Fault::InvalidUnicode, 7, "/to");
    for text in [
        r#""\udc00""#,
        r#""\udfff\ud800""#,
        r#""\ud800x""#,
        r#""\ud800\n""#,
        r#""\ud800\u0041""#,
        r#""\ud800\ud800""#,
        r#""\uD83D""#,
        r#"{"\ud800":1}"#,
    ] {
        assert_eq!(fault(text), Fault::InvalidUnicode, "{text}");
    }
    assert_eq!(parse(r#""\uD83D\uDE00\ud83d\ude00""#).root().as_str().unwrap(), "😀😀");
    assert_eq!(parse(r#""\ufffe\uffff\u0000""#).root().as_str().unwrap(), "\u{fffe}\u{ffff}\0");
}

#[test]
fn args_truncated_poisons_history() {
    let whole = r#"{"to":"b\n\ud83d\ude00b","amount":-12.5e3,"list":[true,false,null,{"é":[]}],"a":{}}"#;
    parse(whole);
    for (end, _) in whole.char_indices() {
        assert_eq!(fault(&whole[..end]), Fault::NotJson, "{}", &whole[..end]);
    }
}

#[test]
fn a_long_string_ends_where_it_ends() {
    for length in 0..40 {
        for special in ["\\\"", "\\u0041", "é", "\u{7f}", "\u{80}", "😀"] {
            let text = format!("\"{}{special}{}\"", "x".repeat(length), "y".repeat(9));
            let document = parse(&text);
            assert_eq!(document.root().raw(), text);
            let expected = special.replace("\\\"", "\"").replace("\\u0041", "A");
            assert_eq!(document.root().as_str().unwrap(), format!("{}{expected}{}", "x".repeat(length), "y".repeat(9)));
        }
        for control in ['\0', '\t', '\n', '\u{1f}'] {
            let text = format!("\"{}{control}yyyyyyyyy\"", "x".repeat(length));
            let error = Document::parse(text, Limits::ARGUMENTS).unwrap_err();
            assert_eq!((error.fault(), error.offset()), (Fault::NotJson, length + 1));
        }
    }
}

#[test]
fn many_keys_take_no_quadratic_time() {
    let keys: Vec<_> = (0..100_000).map(|key| format!("\"k{key}\":{key}")).collect();
    let limits = Limits::OUTPUT;
    let object = format!("{{{}}}", keys.join(","));
    let document = Document::parse(object, limits).unwrap();
    assert_eq!(document.root().len(), 100_000);
    assert_eq!(document.root().get("k99999").unwrap().as_number().unwrap().as_u64(), Some(99_999));
    let repeated = format!("{{{},\"\\u006b7\":0}}", keys.join(","));
    let error = Document::parse(repeated, limits).unwrap_err();
    assert_eq!((error.fault(), error.pointer()), (Fault::DuplicateKey, "/k7"));
}

#[test]
fn repeated_keys_are_found_around_the_bound_between_both_searches() {
    for count in 2..40 {
        let keys: Vec<_> = (0..count).map(|key| format!("\"k{key}\":[{key}]")).collect();
        parse(&format!("{{{}}}", keys.join(",")));
        for again in 0..count {
            let text = format!("{{{},\"k{again}\":null}}", keys.join(","));
            let error = Document::parse(text, Limits::ARGUMENTS).unwrap_err();
            assert_eq!((error.fault(), error.pointer()), (Fault::DuplicateKey, &*format!("/k{again}")));
        }
    }
}

#[test]
fn pointers_lead_to_the_fault() {
    refused_at("[1,2,x]", Fault::NotJson, 5, "/2");
    refused_at("{\"a\":[{\"b\":tru}]}", Fault::NotJson, 11, "/a/0/b");
    refused_at("{\"a\":1 \"b\":2}", Fault::NotJson, 7, "");
    refused_at("{\"x\":{\"a\" 1}}", Fault::NotJson, 10, "/x/a");
}

#[test]
fn every_fault_has_its_own_word() {
    let words: Vec<_> = Fault::ALL.iter().map(|fault| fault.word()).collect();
    assert_eq!(
        words,
        [
            "not_json",
            "duplicate_key",
            "too_deep",
            "too_large",
            "invalid_unicode",
            "non_finite_number",
            "trailing_characters"
        ]
    );
}

#[test]
fn an_error_reads_as_one_sentence() {
    let error = Document::parse("{\"a\":[NaN]}", Limits::ARGUMENTS).unwrap_err();
    assert_eq!(error.to_string(), "a number is not finite, at byte 6 at `/a/0`");
}
