use std::collections::VecDeque;

use super::{MOST_EVENTS, hearing};
use crate::client::{Event, List};

/// A server that says very much, changes its tools and ends: noise takes no room from the end.
#[tokio::test]
async fn the_end_and_a_change_are_heard_through_any_noise() {
    let (ear, mut heard) = hearing();
    for _ in 0..2 * MOST_EVENTS {
        ear.heard(Event::Noise("la".to_owned()));
    }
    ear.heard(Event::ListChanged(List::Prompts));
    ear.heard(Event::Lost("it ended".to_owned()));
    let mut events = VecDeque::new();
    while !matches!(events.back(), Some(Event::Lost(_))) {
        events.push_back(heard.next().await.unwrap());
    }
    assert!(matches!(events.pop_back(), Some(Event::Lost(why)) if why == "it ended"));
    assert!(matches!(events.pop_back(), Some(Event::ListChanged(_))));
    assert_eq!(events.len(), MOST_EVENTS);
}

#[tokio::test]
async fn who_waits_already_hears_what_there_was_no_room_for() {
    let (ear, mut heard) = hearing();
    for _ in 0..=MOST_EVENTS {
        ear.heard(Event::Noise("la".to_owned()));
    }
    for _ in 0..MOST_EVENTS {
        heard.next().await.unwrap();
    }
    assert!(heard.next_already().is_none());
    drop(ear);
    assert!(heard.next().await.is_none());
}
