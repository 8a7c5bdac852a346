use proptest::prelude::*;

use super::*;

/// What a text file of these bytes reads as; nothing when it is binary.
fn decode(bytes: &[u8]) -> Option<(TextEncoding, String, bool)> {
    let mut reader = TextReader::open(bytes).unwrap()?;
    let mut utf8 = Vec::new();
    reader.read_to_end(&mut utf8).unwrap();
    let decoded = decode_up_to(&utf8, usize::MAX);
    Some((reader.encoding(), decoded.text, decoded.lossy))
}

fn utf16(text: &str, mark: [u8; 2], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
}

#[test]
fn byte_order_marks_say_the_encoding_and_are_taken_off() {
    let text = "grüße 日本 🦀\r\n";
    let with_mark = [b"\xEF\xBB\xBF".as_slice(), text.as_bytes()].concat();
    assert_eq!(decode(text.as_bytes()), Some((TextEncoding::Utf8, text.into(), false)));
    assert_eq!(decode(&with_mark), Some((TextEncoding::Utf8, text.into(), false)));
    let little = utf16(text, [0xFF, 0xFE], u16::to_le_bytes);
    assert_eq!(decode(&little), Some((TextEncoding::Utf16Le, text.into(), false)));
    let big = utf16(text, [0xFE, 0xFF], u16::to_be_bytes);
    assert_eq!(decode(&big), Some((TextEncoding::Utf16Be, text.into(), false)));
    assert_eq!(decode(b""), Some((TextEncoding::Utf8, String::new(), false)));
}

#[test]
fn a_nul_near_the_beginning_makes_a_file_binary() {
    assert_eq!(decode(b"\x7fELF\0\0"), None);
    assert_eq!(decode(b"\xFF\xFE\0\0a\0\0\0"), None, "UTF-32");
    assert_eq!(decode(b"a\0b\0"), None, "UTF-16 without a mark");
    let mut late = vec![b'a'; SNIFFED_BYTES];
    late.push(0);
    assert!(decode(&late).is_some());
    late.remove(0);
    assert_eq!(decode(&late), None);
}

#[test]
fn what_cannot_be_decoded_is_replaced_and_said() {
    assert_eq!(decode(b"caf\xe9 au lait"), Some((TextEncoding::Utf8, "caf\u{FFFD} au lait".into(), true)));
    // A replacement character that stands in the file is not a loss.
    assert_eq!(decode("a\u{FFFD}".as_bytes()), Some((TextEncoding::Utf8, "a\u{FFFD}".into(), false)));
    // Half a surrogate pair, and half a unit at the end.
    let broken = [0xFE, 0xFF, 0xD8, 0x3E, 0x00, b'a', 0x00];
    assert_eq!(decode(&broken), Some((TextEncoding::Utf16Be, "\u{FFFD}a\u{FFFD}".into(), true)));
}

#[test]
fn a_cut_falls_between_characters() {
    let cut = |bytes: &[u8], limit| {
        let decoded = decode_up_to(bytes, limit);
        (decoded.text, decoded.lossy, decoded.cut)
    };
    assert_eq!(cut("aé".as_bytes(), 3), ("aé".into(), false, false));
    assert_eq!(cut("aé".as_bytes(), 2), ("a".into(), false, true));
    assert_eq!(cut(b"a\xff", 3), ("a".into(), false, true));
    assert_eq!(cut(b"a\xff", 4), ("a\u{FFFD}".into(), true, false));
}

proptest! {
    #[test]
    fn utf16_reads_the_same_however_long(text in "[^\0]{0,40}", copies in 1_usize..600) {
        let text = text.repeat(copies);
        let bytes = utf16(&text, [0xFF, 0xFE], u16::to_le_bytes);
        prop_assert_eq!(decode(&bytes), Some((TextEncoding::Utf16Le, text, false)));
    }

    #[test]
    fn lossy_agrees_with_the_standard_library(bytes in prop::collection::vec(1_u8.., 0..200), limit in 0_usize..250) {
        let all = String::from_utf8_lossy(&bytes);
        let decoded = decode_up_to(&bytes, limit);
        prop_assert!(decoded.text.len() <= limit && all.starts_with(&decoded.text));
        prop_assert_eq!(decoded.cut, decoded.text.len() < all.len());
        prop_assert!(decoded.cut || decoded.lossy == std::str::from_utf8(&bytes).is_err());
    }
}
