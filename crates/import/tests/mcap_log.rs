//! MCAP logs: every number has its name and unit, and truth and estimate come together at the times of the estimate.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::io::Cursor;

use anabranch_import::mcap_log::{McapLogError, Pair, Series, rows, series};
use mcap::records::MessageHeader;
use mcap::{WriteOptions, Writer};
use proptest::prelude::*;

/// A file in the making.
struct Made {
    writer: Writer<Cursor<Vec<u8>>>,
}

impl Made {
    fn new() -> Self {
        Self { writer: WriteOptions::new().compression(None).create(Cursor::new(Vec::new())).unwrap() }
    }
    fn topic(&mut self, topic: &str, encoding: &str, schema: &str) -> u16 {
        let schema = self.writer.add_schema(topic, "jsonschema", schema.as_bytes()).unwrap();
        self.writer.add_channel(schema, topic, encoding, &BTreeMap::new()).unwrap()
    }
    fn say(&mut self, channel_id: u16, time_ns: u64, text: &str) {
        let header = MessageHeader { channel_id, sequence: 0, log_time: time_ns, publish_time: time_ns };
        self.writer.write_to_known_channel(&header, text.as_bytes()).unwrap();
    }
    fn bytes(mut self) -> Vec<u8> {
        self.writer.finish().unwrap();
        self.writer.into_inner().into_inner()
    }
}

const POSE: &str = r#"{"type": "object", "properties": {"x": {"unit": "m"}, "heading": {"description": "rad"}}}"#;

/// Truth every 20 ms, estimates every 50 ms, both of a car at 10 m/s that turns through the seam of angles.
fn drive() -> Vec<u8> {
    let mut made = Made::new();
    let (truth, estimate) = (made.topic("/truth", "json", POSE), made.topic("/loc/estimate", "json", POSE));
    let heading = |t: f64| 3.0 + 0.5 * t - if 3.0 + 0.5 * t > 3.2 { TAU } else { 0.0 };
    for i in 0..=100 {
        let t = 0.02 * f64::from(i);
        made.say(
            truth,
            1_000_000_000 + u64::from(i as u32) * 20_000_000,
            &format!("{{\"x\": {}, \"heading\": {}}}", 10.0 * t, heading(t)),
        );
    }
    for i in 0..=40 {
        let t = 0.05 * f64::from(i);
        let x = if i == 7 { "null".to_owned() } else { format!("{}", 10.0 * t + 0.3) };
        made.say(
            estimate,
            1_000_000_000 + u64::from(i as u32) * 50_000_000,
            &format!("{{\"x\": {x}, \"heading\": {}}}", heading(t)),
        );
    }
    made.bytes()
}

fn named<'s>(all: &'s [Series], name: &str) -> &'s Series {
    all.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("{name} in {:?}", all.iter().map(|s| &s.name)))
}

#[test]
fn truth_and_estimate_of_two_topics_become_rows() {
    let all = series(&drive()).unwrap();
    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["loc.estimate.heading", "loc.estimate.x", "truth.heading", "truth.x"]);
    assert_eq!(named(&all, "truth.x").unit.as_deref(), Some("m"));
    assert_eq!(named(&all, "truth.heading").unit.as_deref(), Some("rad"));
    let x = Pair { truth: named(&all, "truth.x"), estimate: named(&all, "loc.estimate.x"), turn: None };
    let heading =
        Pair { truth: named(&all, "truth.heading"), estimate: named(&all, "loc.estimate.heading"), turn: Some(TAU) };
    let found = rows(&[x, heading]).unwrap();
    assert_eq!((found.time_s.len(), found.time_s[40]), (41, 2.0));
    for (row, &t) in found.time_s.iter().enumerate() {
        assert!((found.truth[0][row] - 10.0 * t).abs() < 1e-9, "{t}");
        // Between its messages the heading goes through the seam the short way; a full turn does not matter.
        let off = found.truth[1][row] - (3.0 + 0.5 * t);
        assert!((off - TAU * (off / TAU).round()).abs() < 1e-9, "{t}: {off}");
        assert_eq!(found.estimate[0][row].is_none(), row == 7);
    }
}

#[test]
fn rows_outside_of_the_truth_are_left_out_and_gaps_in_it_are_pointed_at() {
    let line = |name: &str, times: &[u64]| Series {
        name: name.into(),
        unit: None,
        time_ns: times.iter().map(|ms| ms * 1_000_000).collect(),
        value: times.iter().map(|ms| Some(*ms as f64)).collect(),
    };
    let (truth, estimate) = (line("truth", &[100, 300, 500]), line("estimate", &[0, 150, 300, 450, 600]));
    let found = rows(&[Pair { truth: &truth, estimate: &estimate, turn: None }]).unwrap();
    assert_eq!((found.truth, found.time_s.len()), (vec![vec![150.0, 300.0, 450.0]], 3));
    assert!(found.time_s.iter().zip([0.0, 0.15, 0.3]).all(|(found_s, expect_s)| (found_s - expect_s).abs() < 1e-12));
    let gap = line("truth", &[100, 300, 900]);
    let refused = rows(&[Pair { truth: &gap, estimate: &estimate, turn: None }]).unwrap_err().to_string();
    assert_eq!(refused, "`truth` says nothing between 0.300 s and 0.900 s; cut the log there");
    let later = line("truth", &[5000, 5100]);
    let refused = rows(&[Pair { truth: &later, estimate: &estimate, turn: None }]).unwrap_err();
    assert!(matches!(refused, McapLogError::Apart { .. }), "{refused}");
    let other = line("other", &[0, 150]);
    let pair = |estimate| Pair { truth: &truth, estimate, turn: None };
    let refused = rows(&[pair(&estimate), pair(&other)]).unwrap_err().to_string();
    assert!(refused.contains("`estimate` and `other` were told at different times"), "{refused}");
}

#[test]
fn files_that_are_no_logs_say_why() {
    assert!(matches!(series(b"time [s],x").unwrap_err(), McapLogError::Broken(_)));
    let mut protobuf = Made::new();
    let topic = protobuf.topic("/gps", "protobuf", "");
    protobuf.say(topic, 1, "x");
    let refused = series(&protobuf.bytes()).unwrap_err().to_string();
    assert!(refused.contains("`/gps` (protobuf)"), "{refused}");
    let mut broken = Made::new();
    let topic = broken.topic("/truth", "json", POSE);
    broken.say(topic, 1, "{\"x\": 1}");
    broken.say(topic, 2, "{\"x\": ");
    let refused = series(&broken.bytes()).unwrap_err().to_string();
    assert!(refused.starts_with("message 2 of topic `/truth` is no JSON"), "{refused}");
    let refused = series(&Made::new().bytes()).unwrap_err().to_string();
    assert!(refused.contains("no messages at all"), "{refused}");
}

#[test]
fn messages_out_of_order_are_sorted_and_lists_left_out() {
    let mut made = Made::new();
    let topic = made.topic("/a/b", "json", "not json");
    made.say(topic, 20, r#"{"x": 2, "many": [1, 2], "name": "n", "deep": {"y": -1.5}}"#);
    made.say(topic, 10, r#"{"x": 1}"#);
    let all = series(&made.bytes()).unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!((named(&all, "a.b.x").time_ns.as_slice(), named(&all, "a.b.x").value[0]), (&[10, 20][..], Some(1.0)));
    assert_eq!((named(&all, "a.b.deep.y").value[0], &named(&all, "a.b.deep.y").unit), (Some(-1.5), &None));
}

#[test]
fn a_record_that_claims_to_be_longer_than_its_chunk_is_an_error() {
    let bytes = drive();
    // A message in a chunk: its kind, then eight bytes that say how long it is.
    let message = bytes.windows(2).position(|pair| pair == b"{\"").expect("a message is written as JSON");
    let frame = (0..message).rev().find(|&at| bytes[at] == 0x05 && bytes[at + 2..at + 9] == [0; 7]).unwrap();
    for claimed in [u64::MAX, u64::MAX - 8, 1 << 40, bytes.len() as u64, 200] {
        let mut damaged = bytes.clone();
        damaged[frame + 1..frame + 9].copy_from_slice(&claimed.to_le_bytes());
        assert!(matches!(series(&damaged).unwrap_err(), McapLogError::Broken(_)), "{claimed}");
    }
}

proptest! {
    #[test]
    fn no_damaged_file_makes_the_reader_fail_otherwise_than_by_an_error(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(0..3000_usize),
    ) {
        let mut bytes = drive();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        // What is cut out of the middle leaves the end as it was, so that reading does not stop there.
        if let Some(cut) = cut {
            let middle = bytes.len() / 2;
            bytes.drain(middle..(middle + cut).min(bytes.len() - 8));
        }
        if let Err(refused) = series(&bytes) {
            prop_assert!(!refused.to_string().is_empty());
        }
    }
}
