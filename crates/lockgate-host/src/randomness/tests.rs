use std::collections::HashSet;

use super::*;

#[test]
fn random_ids_differ() {
    let ids: HashSet<u64> = (0..10_000).map(|_| RandomIds.random()).collect();
    assert_eq!(ids.len(), 10_000);
}

#[test]
fn without_the_system_ids_differ_too_and_use_all_bits() {
    let ids: Vec<u64> = (0..10_000).map(|_| without_the_system()).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 10_000);
    // Run ids take the low 48 bits, shorter ids still must not collide.
    assert_eq!(ids.iter().map(|id| id & 0xffff_ffff_ffff).collect::<HashSet<_>>().len(), 10_000);
    let (ones, zeros) = ids.iter().fold((0, 0), |(ones, zeros), id| (ones | id, zeros | !id));
    assert_eq!((ones, zeros), (u64::MAX, u64::MAX));
}
