use reqwest::header::HeaderValue;

use super::*;

fn headers(entries: &[(&'static str, &'static str)]) -> HeaderMap {
    entries.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
}

fn code(status: u16) -> &'static str {
    from_status(status, &HeaderMap::new(), "").code()
}

#[test]
fn each_status_has_its_error() {
    for (status, expected) in [
        (302, "model_not_configured"),
        (400, "model_invalid_request"),
        (401, "model_unauthorized"),
        (402, "model_refused"),
        (403, "model_unauthorized"),
        (404, "model_invalid_request"),
        (408, "model_timed_out"),
        (413, "model_invalid_request"),
        (422, "model_invalid_request"),
        (429, "model_rate_limited"),
        (500, "model_overloaded"),
        (501, "model_invalid_request"),
        (502, "model_overloaded"),
        (503, "model_overloaded"),
        (504, "model_overloaded"),
        (529, "model_overloaded"),
        (799, "model_invalid_response"),
    ] {
        assert_eq!(code(status), expected, "{status}");
    }
}

#[test]
fn the_providers_message_is_found_in_every_form() {
    for (body, expected) in [
        (r#"{"error": {"message": "no", "type": "x"}}"#, "no"),
        (r#"{"error": "no"}"#, "no"),
        (r#"{"error": null, "detail": "no"}"#, "no"),
        (r#"{"error": {"code": 5}}"#, r#"{"code": 5}"#),
        (r#"{"object": "error", "message": "no"}"#, "no"),
        (r#"{"detail": [{"loc": ["body"]}]}"#, r#"[{"loc": ["body"]}]"#),
        (r#"[{"error": {"code": 400, "message": "no"}}]"#, "no"),
        ("plain text\nsecond line", "plain text second line"),
    ] {
        assert_eq!(message(body).as_deref(), Some(expected), "{body}");
    }
    assert_eq!(message("<html><body>502</body></html>"), None);
    assert_eq!(message(""), None);
    assert_eq!(message(r#"{"unknown": 1}"#), None);
}

#[test]
fn long_messages_are_cut_on_a_character() {
    let kept = cut(&"é".repeat(600));
    assert_eq!(kept.chars().count(), 501);
    assert!(kept.ends_with('…'));
    assert_eq!(cut(&"x".repeat(500)), "x".repeat(500));
    assert_eq!(cut("a\u{1b}[31mb"), "a [31mb");
}

#[test]
fn retry_after_is_seconds_or_a_date_counted_from_the_answers_own() {
    let seconds =
        |entries: &[(&'static str, &'static str)]| retry_after(&headers(entries)).map(|wait| wait.as_secs_f64());
    assert_eq!(seconds(&[("retry-after", "7")]), Some(7.0));
    assert_eq!(seconds(&[("retry-after", "7"), ("retry-after-ms", "250")]), Some(0.25));
    let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(seconds(&[date, ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")]), Some(30.0));
    assert_eq!(seconds(&[date, ("retry-after", "Sun, 06 Nov 1994 08:40:00 GMT")]), Some(0.0));
    assert_eq!(seconds(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")]), None);
    assert_eq!(seconds(&[("retry-after", "soon")]), None);
    assert_eq!(seconds(&[]), None);
}

#[test]
fn an_endless_wait_is_not_believed() {
    let error = from_status(503, &headers(&[("retry-after", "18446744073709551615")]), "");
    assert_eq!(
        error,
        ModelError::Overloaded { detail: "status 503: no message".to_owned(), retry_after: Some(MAX_RETRY_AFTER) }
    );
}

#[test]
fn an_error_inside_an_answer_has_the_error_of_its_status() {
    let read = |text: &str| {
        let document = Document::parse(text, crate::wire::limits(text.len())).unwrap();
        from_error_member(document.root())
    };
    let limited = read(r#"{"code": 429, "message": "slow down"}"#);
    assert_eq!(limited.code(), "model_rate_limited");
    assert!(limited.to_string().contains("slow down"));
    assert_eq!(read(r#"{"code": 503, "message": "no"}"#).code(), "model_overloaded");
    assert_eq!(read(r#"{"code": "bad", "message": "no"}"#).code(), "model_invalid_response");
    assert_eq!(read(r#"{"message": "no"}"#).code(), "model_invalid_response");
    assert_eq!(read(r#"{"code": 200, "message": "no"}"#).code(), "model_invalid_response");
}

#[test]
fn google_says_when_to_come_back_and_what_is_wrong_in_the_details() {
    let body = r#"[{"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure"},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "38.5s"}]}}]"#;
    let expected = |seconds| ModelError::RateLimited {
        detail: "status 429: quota".to_owned(),
        retry_after: Some(Duration::from_secs_f64(seconds)),
    };
    assert_eq!(from_status(429, &HeaderMap::new(), body), expected(38.5));
    assert_eq!(from_status(429, &headers(&[("retry-after", "7")]), body), expected(7.0));
    let key =
        r#"{"error": {"code": 400, "message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}}"#;
    assert_eq!(from_status(400, &HeaderMap::new(), key).code(), "model_unauthorized");
    for delay in ["-1s", "soon", "1e400s", "3"] {
        let body = body.replace("38.5s", delay);
        let ModelError::RateLimited { retry_after, .. } = from_status(429, &HeaderMap::new(), &body) else { panic!() };
        assert_eq!(retry_after, None, "{delay}");
    }
}
