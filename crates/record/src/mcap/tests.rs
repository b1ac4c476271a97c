use super::*;
use std::io::Cursor;

fn signals() -> Vec<Signal> {
    ["ego.x", "ego.y", "ego.heading", "ego.clearance"].map(|name| Signal::new(name, "m")).to_vec()
}

fn record() -> Vec<u8> {
    let world = TraceWorld {
        walls: vec![vec![[0.0, 1.0], [5.0, 1.0]]],
        obstacles: vec![vec![[1.0, 2.0], [2.0, 2.0], [2.0, 3.0]]],
        path: vec![[0.0, 0.0], [5.0, 0.0]],
        outline: vec![[-1.0, -0.5], [3.0, -0.5], [3.0, 0.5], [-1.0, 0.5]],
    };
    let error = |from_s, text: &str| TraceError { from_s, text: text.to_owned() };
    let errors = vec![error(0.0, "none"), error(0.5, "jump: left"), error(9.0, "never reached")];
    let mut trace = McapTrace::new(Cursor::new(Vec::new()), &signals(), 0.01, &world, errors).unwrap();
    for tick in 1..=100 {
        let x = tick as f64 * 0.01;
        trace.frame(tick, &[x, 0.0, 0.1, if tick == 7 { f64::INFINITY } else { 1.0 - x }]);
    }
    trace.verdict(100, "no-contact violated", Some([1.0, 1.0]));
    trace.finish().unwrap().into_inner()
}

fn messages(bytes: &[u8], topic: &str) -> Vec<(u64, Value)> {
    ::mcap::MessageStream::new(bytes)
        .unwrap()
        .map(Result::unwrap)
        .filter(|message| message.channel.topic == topic)
        .map(|message| (message.log_time, serde_json::from_slice(&message.data).unwrap()))
        .collect()
}

#[test]
fn everything_is_there_when_it_is_read_back() {
    let bytes = record();
    let all = messages(&bytes, "/signals");
    assert_eq!(all.len(), 100);
    assert_eq!((all[6].0, &all[6].1["ego"]["clearance"]), (70_000_000, &Value::Null));
    assert_eq!(all[49].1["ego"]["x"], 0.5);
    let scene = messages(&bytes, "/scene");
    assert_eq!(scene.len(), 2);
    assert_eq!(scene[0].1["entities"][0]["lines"][0]["points"].as_array().unwrap().len(), 2);
    assert_eq!(scene[0].1["entities"][3]["cubes"][0]["size"]["x"], 4.0);
    assert_eq!(scene[1].1["entities"][0]["spheres"].as_array().unwrap().len(), 1);
    let tf = messages(&bytes, "/tf");
    assert!((50..=52).contains(&tf.len()), "{}", tf.len());
    assert_eq!(tf.last().unwrap().0, 1_000_000_000, "the last frame is always shown");
    assert_eq!(messages(&bytes, "/ego/pose").len(), tf.len());
    let errors: Vec<(u64, String)> = messages(&bytes, "/errors")
        .into_iter()
        .map(|(at, log)| (at / 1_000_000, log["message"].as_str().unwrap().to_owned()))
        .collect();
    let expect = [(0, "none"), (500, "jump: left"), (1000, "no-contact violated")];
    assert_eq!(errors, expect.map(|(at, text)| (at, text.to_owned())));
}

#[test]
fn schemas_are_those_that_viewers_look_for() {
    let bytes = record();
    let summary = ::mcap::Summary::read(&bytes).unwrap().unwrap();
    let mut names: Vec<(String, String)> = summary
        .channels
        .values()
        .map(|channel| {
            let schema = channel.schema.as_ref().unwrap();
            assert_eq!((schema.encoding.as_str(), channel.message_encoding.as_str()), ("jsonschema", "json"));
            let text: Value = serde_json::from_slice(&schema.data).unwrap();
            assert_eq!(text["title"].as_str(), Some(schema.name.as_str()));
            (channel.topic.clone(), schema.name.clone())
        })
        .collect();
    names.sort();
    let expect = [
        ("/ego/pose", "foxglove.PoseInFrame"),
        ("/errors", "foxglove.Log"),
        ("/scene", "foxglove.SceneUpdate"),
        ("/signals", "anabranch.Signals"),
        ("/tf", "foxglove.FrameTransform"),
    ];
    assert_eq!(names, expect.map(|(topic, name)| (topic.to_owned(), name.to_owned())));
}

#[test]
fn the_same_run_has_the_same_bytes() {
    assert_eq!(record(), record());
}
