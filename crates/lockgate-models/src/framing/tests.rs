use super::*;

fn read(framing: Framing, text: &str, cut: usize) -> Vec<Event> {
    let mut frames = Frames::new(framing, 1 << 20);
    let mut events = Vec::new();
    for piece in text.as_bytes().chunks(cut) {
        events.extend(frames.feed(piece).unwrap());
    }
    events.extend(frames.end().unwrap());
    events
}

fn event(kind: &str, data: &str) -> Event {
    Event { kind: kind.to_owned(), data: data.to_owned() }
}

#[test]
fn events_are_the_same_however_the_bytes_are_cut() {
    let text = "\u{feff}: hello\r\ndata: {\"é\":1}\r\n\r\nevent: x\ndata: a\ndata:b\nid: 7\n\ndata\n\nevent: lost\n\ndata: cut";
    for cut in 1..text.len() {
        let events = read(Framing::Events, text, cut);
        assert_eq!(events, [event("", "{\"é\":1}"), event("x", "a\nb"), event("", "")], "in pieces of {cut}");
    }
}

#[test]
fn a_line_is_a_value_also_without_its_end() {
    for cut in 1..12 {
        assert_eq!(
            read(Framing::Lines, "{}\n\r\n [1]\r\n2", cut),
            [event("", "{}"), event("", " [1]"), event("", "2")]
        );
    }
}

#[test]
fn a_stream_is_no_longer_than_it_may_be() {
    let mut frames = Frames::new(Framing::Events, 10);
    frames.feed(b"data: 1").unwrap();
    assert_eq!(frames.feed(b"data").unwrap_err().code(), "model_invalid_response");
}
