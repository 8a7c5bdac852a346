use super::*;

fn told(text: &str) -> (String, Vec<(String, String)>) {
    let document = Document::parse(text, crate::wire::limits(text.len())).unwrap();
    let told = Told::of(&document);
    let images = told.images.iter().map(|image| (image.mime_type.to_string(), image.data.to_string())).collect();
    (told.text.into_owned(), images)
}

#[test]
fn images_are_taken_out_of_content_and_the_rest_stays() {
    let png = ("image/png".to_owned(), "aGk=".to_owned());
    let block = r#"{"type":"image","data":"aGk=","mimeType":"image/png"}"#;
    let (text, images) = told(&format!(r#"{{"content":[{{"type":"text","text":"1.10"}},{block}],"n":1.10}}"#));
    assert_eq!(text, r#"{"content":[{"type":"text","text":"1.10"},{"type":"image","mimeType":"image/png"}],"n":1.10}"#);
    assert_eq!(images, std::slice::from_ref(&png));
    let (text, images) = told(&format!(r#"{{"data":{{"content":[{block}]}},"meta":{{"arguments_edited":true}}}}"#));
    assert_eq!(
        text,
        r#"{"data":{"content":[{"type":"image","mimeType":"image/png"}]},"meta":{"arguments_edited":true}}"#
    );
    assert_eq!(images, [png]);
}

#[test]
fn what_is_no_image_stays_as_it_was_written() {
    for text in [
        r#"{ "content": [1, "image", {"type": "image"}] }"#,
        r#"{"content":[{"type":"image","data":"<script>","mimeType":"image/png"}]}"#,
        r#"{"content":[{"type":"image","data":"aGk=","mimeType":"text/html"}]}"#,
        r#"{"content":{"type":"image","data":"aGk=","mimeType":"image/png"}}"#,
        "null",
        r#"[{"type":"image","data":"aGk=","mimeType":"image/png"}]"#,
    ] {
        assert_eq!(told(text), (text.to_owned(), vec![]));
    }
}
