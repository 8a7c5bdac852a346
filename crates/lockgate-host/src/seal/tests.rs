use lockgate_contract::hexadecimal::digits;

use super::*;

#[test]
fn seals_are_those_of_the_standard() {
    // RFC 4231, test cases 1, 2 and 6: a short key, a shorter one, and one longer than a block.
    for (key, text, expected) in [
        (&[0x0b; 20][..], "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (b"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        (
            &[0xaa; 131],
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
    ] {
        let (one, other) = text.as_bytes().split_at(3);
        assert_eq!(digits(&seal(key, &[one, other])), expected, "{text}");
        assert!(is_seal(key, &[text.as_bytes()], &seal(key, &[one, other])), "{text}");
    }
}

#[test]
fn nothing_else_is_a_seal() {
    let (key, parts) = ([7; 32], [&b"a"[..], b"bc"]);
    let right = seal(&key, &parts);
    assert!(is_seal(&key, &parts, &right));
    assert!(!is_seal(&[8; 32], &parts, &right));
    assert!(!is_seal(&key, &[b"a", b"bd"], &right));
    for wrong in [&right[..31], &[], &[right.as_slice(), &[0]].concat()] {
        assert!(!is_seal(&key, &parts, wrong), "{}", wrong.len());
    }
}
