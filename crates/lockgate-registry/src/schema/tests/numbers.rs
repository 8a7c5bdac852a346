use super::*;

#[test]
fn bounds_are_exact() {
    for (schema, good, bad) in [
        (r#"{"maximum":9007199254740992}"#, "9007199254740992.0", "9007199254740993"),
        (r#"{"minimum":9007199254740993}"#, "9007199254740993", "9007199254740992"),
        (r#"{"maximum":12345678901234567890123}"#, "12345678901234567890123", "12345678901234567890124"),
        (r#"{"minimum":1}"#, "1.00000000000000000000", "0.99999999999999999999999"),
        (r#"{"exclusiveMinimum":0}"#, "1e-400", "-0.0"),
        (r#"{"exclusiveMaximum":0.1}"#, "0.09999999999999999999", "0.10000000000000000000"),
        (r#"{"maximum":1e30}"#, "1000000000000000000000000000000", "1000000000000000000000000000001"),
    ] {
        let keyword = schema.split('"').nth(1).unwrap();
        for text in [schema.to_owned(), draft_7(schema)] {
            let schema = admitted(&text);
            fits(&schema, good);
            assert_eq!(breaks(&schema, bad), keyword, "{text} {bad}");
            fits(&schema, r#""no number""#);
        }
    }
}

#[test]
fn multiples_are_exact() {
    for (divisor, good, bad) in [
        ("0.01", "4.02", "4.021"),
        ("0.01", "1070468.14", "1070468.145"),
        ("1e-9", "0.123456789", "0.1234567891"),
        ("3", "9007199254740993", "9007199254740992"),
        ("7", "700000000000000000000000000000", "700000000000000000000000000001"),
        ("0.1", "-0.3", "-0.35"),
        ("1e2", "1e300", "150"),
        ("2.5", "0", "1"),
        ("123456789012345678", "123456789012345678e5", "123456789012345679e5"),
    ] {
        let schema = admitted(&format!(r#"{{"multipleOf":{divisor}}}"#));
        fits(&schema, good);
        assert_eq!(breaks(&schema, bad), "multipleOf", "{divisor} {bad}");
    }
    for (text, pointer) in [
        (r#"{"multipleOf":1234567890123456789}"#, "/multipleOf"),
        (
            r#"{"properties":{"lockgate:multipleOf":{"multipleOf":1234567890123456789}}}"#,
            "/properties/lockgate:multipleOf/multipleOf",
        ),
    ] {
        let reason = "its number has more digits than are supported".to_owned();
        assert_eq!(admit(text).unwrap_err(), SchemaRefused::NotEnforceable { pointer: pointer.to_owned(), reason });
    }
}

/// The other way to decide it: write the zeros out, and divide.
#[test]
fn multiples_with_zeros_behind_them_are_exact() {
    for divisor in [1u128, 3, 4, 7, 8, 13, 32, 64, 640, 1024, 999_999_999_999_999_989] {
        let schema = admitted(&format!(r#"{{"multipleOf":{divisor}}}"#));
        for digits in [1u128, 2, 7, 13, 999_999_999_999_999_989] {
            for zeros in 0..16 {
                let number = digits * 10u128.pow(zeros);
                for instance in [format!("{digits}e{zeros}"), format!("{number}"), format!("-{number}.0")] {
                    assert_eq!(check(&schema, &instance).is_ok(), number % divisor == 0, "{instance} by {divisor}");
                }
            }
        }
    }
}

#[test]
fn an_integer_is_one_by_value() {
    let schema = admitted(r#"{"type":"integer"}"#);
    for good in ["1", "1.0", "1e3", "-0.0", "12345678901234567890123", "1.5e1"] {
        fits(&schema, good);
    }
    for bad in ["1.5", "1e-3", "9007199254740993.5", r#""1""#, "true"] {
        assert_eq!(breaks(&schema, bad), "type");
    }
}

#[test]
fn values_are_compared_exactly() {
    let schema = admitted(r#"{"enum":[1,9007199254740993,{"a":[0.10]},"x"]}"#);
    for good in ["1.0", "10e-1", "9007199254740993", r#"{"a":[0.1]}"#, r#""x""#] {
        fits(&schema, good);
    }
    for bad in ["9007199254740992", r#"{"a":[0.10000000000000000001]}"#, r#""y""#, "true", r#"{"a":[0.1],"b":1}"#] {
        assert_eq!(breaks(&schema, bad), "enum");
    }
    let schema = admitted(r#"{"const":{"n":12345678901234567890123,"s":"x"}}"#);
    fits(&schema, r#"{"s":"x","n":12345678901234567890123.0}"#);
    assert_eq!(breaks(&schema, r#"{"s":"x","n":12345678901234567890124}"#), "const");
    let schema = admitted(r#"{"enum":["a",null,true,["b"],{"c":"d"}]}"#);
    for good in [r#""a""#, "null", "true", r#"["b"]"#, r#"{"c":"\u0064"}"#] {
        fits(&schema, good);
    }
    for bad in ["1", "false", r#"["b","b"]"#, r#"{"c":1}"#, r#"{"d":"d"}"#] {
        assert_eq!(breaks(&schema, bad), "enum");
    }
}

#[test]
fn items_are_told_apart_exactly() {
    let schema = admitted(r#"{"uniqueItems":true}"#);
    for good in
        ["[9007199254740992,9007199254740993]", r#"[1,"1",true,null,[1],{"a":1}]"#, r#"[{"a":1,"b":2},{"a":2,"b":1}]"#]
    {
        fits(&schema, good);
    }
    for bad in ["[1,1.0]", r#"[{"a":1,"b":2},{"b":2.0,"a":1}]"#, r#"["a","\u0061"]"#, "[[0.1],[0.10]]"] {
        assert_eq!(breaks(&schema, bad), "uniqueItems");
    }
}

#[test]
fn counts_are_read_by_value() {
    let schema = admitted(r#"{"maxLength":3.0,"minItems":1e0}"#);
    fits(&schema, r#""abc""#);
    assert_eq!(breaks(&schema, r#""abcd""#), "maxLength");
    assert_eq!(breaks(&schema, "[]"), "minItems");
    fits(&admitted(r#"{"maxLength":1e30}"#), r#""abcd""#);
    assert_eq!(breaks(&admitted(r#"{"minLength":100000000000000000000}"#), r#""abcd""#), "minLength");
    // Characters, not bytes.
    fits(&admitted(r#"{"maxLength":1}"#), r#""🦀""#);
}

#[test]
fn a_private_keyword_in_a_schema_means_nothing() {
    let schema = admitted(r#"{"lockgate:minimum":"5","lockgate:enum":7,"lockgate:additionalProperties":[]}"#);
    fits(&schema, r#"{"a":1}"#);
    fits(&schema, "1");
}
