use proptest::prelude::*;

use super::*;

fn ask(offset: u64, max_bytes: u64) -> ReadArtifact {
    ReadArtifact { artifact: "known".into(), offset: Some(offset), max_bytes: NonZeroU64::new(max_bytes) }
}

#[test]
fn a_page_says_where_the_next_one_begins() {
    let expected =
        ArtifactPage { artifact: "known".into(), text: "gr".into(), offset: 0, next_offset: Some(2), total_bytes: 7 };
    assert_eq!(page("grüße", ask(0, 3)).unwrap(), expected);
    let last = page("grüße", ask(2, 100)).unwrap();
    assert_eq!((last.text.as_str(), last.next_offset), ("üße", None));
}

#[test]
fn an_offset_inside_of_a_character_counts_as_its_beginning() {
    let middle = page("aé", ask(2, 9)).unwrap();
    assert_eq!((middle.offset, middle.text.as_str()), (1, "é"));
}

#[test]
fn the_end_is_an_empty_page_and_what_is_past_it_a_failure() {
    let end = page("abc", ask(3, 9)).unwrap();
    assert_eq!((end.text.as_str(), end.next_offset), ("", None));
    assert_eq!(page("", ask(0, 9)).unwrap().total_bytes, 0);
    assert_eq!(page("abc", ask(4, 9)).unwrap_err().code(), "offset_past_end");
    assert_eq!(page("abc", ask(u64::MAX, 9)).unwrap_err().code(), "offset_past_end");
}

#[test]
fn pages_have_a_default_and_a_largest_size() {
    let text = "x".repeat(200_000);
    let default = ReadArtifact { artifact: "known".into(), offset: None, max_bytes: None };
    assert_eq!(page(&text, default).unwrap().text.len(), 32 * 1024);
    assert_eq!(page(&text, ask(0, u64::MAX)).unwrap().text.len(), 128 * 1024);
}

proptest! {
    #[test]
    fn the_pages_make_up_the_text(text in ".{0,50}", max_bytes in 1_u64..9) {
        let mut read = String::new();
        let mut next = Some(0);
        while let Some(offset) = next {
            let page = page(&text, ask(offset, max_bytes)).unwrap();
            prop_assert!(page.offset == offset && (!page.text.is_empty() || text.is_empty()));
            prop_assert!(page.text.len() as u64 <= max_bytes.max(4));
            read.push_str(&page.text);
            next = page.next_offset;
        }
        prop_assert_eq!(read, text);
    }
}
