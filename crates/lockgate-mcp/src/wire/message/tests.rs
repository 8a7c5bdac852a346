use lockgate_contract::document::Limits;

use super::*;

fn read(text: &str) -> Result<Message, WireError> {
    Message::read(text, Limits::ARGUMENTS)
}

#[test]
fn a_message_is_written_as_it_was_read() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{"n":12345678901234567890.10}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.10}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}"#,
    ] {
        assert_eq!(read(text).unwrap().text(), text);
    }
}

#[test]
fn a_message_is_one_line_whatever_came() {
    let message = read("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\n  \"a\": \"x\\n\"\r\n}}").unwrap();
    assert_eq!(message.text(), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{   \"a\": \"x\\n\"  }}");
}

#[test]
fn what_is_no_message_is_answered_under_its_id() {
    for (text, code, id) in [
        ("{", code::PARSE_ERROR, "null"),
        ("[]", code::INVALID_REQUEST, "null"),
        (r#"{"id":1,"method":"x"}"#, code::INVALID_REQUEST, "1"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, code::INVALID_REQUEST, "null"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, code::INVALID_REQUEST, "null"),
        (r#"{"jsonrpc":"2.0","id":"a","method":1}"#, code::INVALID_REQUEST, r#""a""#),
        (r#"{"jsonrpc":"2.0","id":"a","method":"x","params":[]}"#, code::INVALID_REQUEST, r#""a""#),
        (r#"{"jsonrpc":"2.0","id":7,"result":1,"error":{"code":1,"message":""}}"#, code::INVALID_REQUEST, "7"),
        (r#"{"jsonrpc":"2.0","result":{}}"#, code::INVALID_REQUEST, "null"),
    ] {
        let answer = read(text).unwrap_err().answer();
        assert_eq!(answer.outcome.as_ref().unwrap_err().code, code, "{text}");
        assert_eq!(serde_json::to_string(&answer.id).unwrap(), id, "{text}");
    }
}
