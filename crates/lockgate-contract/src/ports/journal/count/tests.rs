use std::time::Duration;

use super::{Count, Per};
use crate::effect::Effect;
use crate::time::Timestamp;

fn all() -> Count {
    Count { name: "calls".to_owned(), tool: None, effect: None, per: Per::Tenant, within: None, from: None }
}

#[test]
fn the_later_of_both_beginnings_counts() {
    let at = |millis| Timestamp::from_millis(millis);
    let now = at(10_000);
    assert_eq!(all().since(now), at(0));
    let within = Count { within: Some(Duration::from_secs(4)), ..all() };
    assert_eq!(within.since(now), at(6_000));
    let from = Count { from: Some(at(7_000)), ..all() };
    assert_eq!(from.since(now), at(6_999));
    let both = |from| Count { from: Some(at(from)), ..within.clone() };
    assert_eq!((both(7_000).since(now), both(5_000).since(now)), (at(6_999), at(6_000)));
    let forever = Count { within: Some(Duration::MAX), ..all() };
    assert_eq!(forever.since(now), at(0));
}

#[test]
fn what_is_not_said_covers_everything() {
    let pay = Count { tool: Some("pay".to_owned()), ..all() };
    let reads = Count { effect: Some(Effect::Read), ..all() };
    assert!(all().covers("pay", Effect::Read) && pay.covers("pay", Effect::External));
    assert!(!pay.covers("look", Effect::External) && !reads.covers("pay", Effect::External));
}
