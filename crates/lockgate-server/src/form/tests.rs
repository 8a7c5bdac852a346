use super::{Form, decoded};

#[test]
fn escapes_are_taken_out() {
    assert_eq!(decoded("a%20b+c%3D%c3%A9"), "a b c=é");
    assert_eq!(decoded("100%"), "100%");
    assert_eq!(decoded("%zz%4"), "%zz%4");
    assert_eq!(decoded("%ff"), "\u{fffd}");
}

#[test]
fn a_field_stands_once() {
    let form = Form::parse(b"digest=sha256%3Aab&reason=+it+is+slow+&empty=").unwrap();
    assert_eq!(
        (form.get("digest"), form.get("reason"), form.get("empty")),
        (Some("sha256:ab"), Some("it is slow"), None)
    );
    assert!(Form::parse(b"digest=a&digest=b").is_none());
    assert!(Form::parse(b"digest=a&%64igest=b").is_none());
    let many: Vec<String> = (0..20).map(|at| format!("f{at}=1")).collect();
    assert!(Form::parse(many.join("&").as_bytes()).is_none());
}
