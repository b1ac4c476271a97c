//! Misbehaviour on the wire itself: other greetings, other frames, other bytes.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anabranch_bridge::protocol::{BODY_BYTES_MAX, Reply, Request};
use anabranch_bridge::zmtp::{Link, Side};
use anabranch_bridge::{ENDPOINT_VARIABLE, Support, body, serve};

use crate::toy::Toy;

/// What is sent instead of the third reply; the flag says that bytes go out as they are, without a frame around them.
struct Wrong {
    bytes: Vec<u8>,
    frame: bool,
}

fn connect() -> Result<UnixStream, String> {
    let endpoint = std::env::var(ENDPOINT_VARIABLE).map_err(|error| error.to_string())?;
    let path = endpoint.strip_prefix("ipc://").ok_or("not a socket in the file system")?;
    UnixStream::connect(path).map_err(|error| error.to_string())
}

/// A head of a long frame.
fn long_head(length: u64) -> Vec<u8> {
    [&[0x01, 0x00, 0x02][..], &length.to_be_bytes()].concat()
}

fn wrong(mode: &str, good: &[u8], reply: &Reply) -> Option<Wrong> {
    let framed = |bytes: Vec<u8>| Some(Wrong { bytes, frame: true });
    let plain = |bytes: Vec<u8>| Some(Wrong { bytes, frame: false });
    let encoded = |reply: &Reply| {
        let mut bytes = Vec::new();
        body::encode(reply, &mut bytes);
        bytes
    };
    match mode {
        "wrong-sequence" => framed(encoded(&Reply { seq: reply.seq + 1, ..reply.clone() })),
        "wrong-version" => framed(encoded(&Reply { anabranch: 9, ..reply.clone() })),
        "not-messagepack" => framed(b"{\"anabranch\": 1}".to_vec()),
        "truncated-body" => framed(good[..good.len() / 2].to_vec()),
        "trailing-bytes" => framed([good, b"more"].concat()),
        "value-bomb" => framed([&b"\x81\xa7answers\xdd\x01\x00\x00\x00"[..], &vec![0x90; 1 << 24]].concat()),
        "huge-length" => plain(long_head(u64::MAX / 2)),
        "oversized" => plain([long_head(65 << 20), vec![0; 1 << 20]].concat()),
        "cut-frame" => plain([long_head(1000), vec![0; 10]].concat()),
        "bad-flags" => plain(vec![0xff; 20]),
        "no-delimiter" => plain(vec![0x00, 0x01, 0x80]),
        _ => None,
    }
}

/// Runs one of the modes here, if it is one.
pub fn misbehave(mode: &str) -> Option<Result<(), String>> {
    match mode {
        "garbage-greeting" => return Some(greet(b"SSH-2.0-OpenSSH_9.6 this is something else entirely, is it not? yes it is")),
        "old-greeting" => {
            let mut greeting = [0; 64];
            (greeting[0], greeting[9], greeting[10]) = (0xff, 0x7f, 1);
            return Some(greet(&greeting));
        }
        "half-greeting" => return Some(greet(&[0xff, 0, 0, 0, 0])),
        "other-socket" => return Some(other_socket()),
        _ => {}
    }
    let empty = Reply { anabranch: 1, seq: 1, answers: Vec::new(), seconds: None };
    let known = ["trickle", "pings", "closes-link"].contains(&mode) || wrong(mode, &[0; 8], &empty).is_some();
    known.then(|| talk(mode))
}

fn stay() {
    std::thread::sleep(Duration::from_secs(1000));
}

fn greet(bytes: &[u8]) -> Result<(), String> {
    connect()?.write_all(bytes).map_err(|error| error.to_string())?;
    stay();
    Ok(())
}

/// A subscriber instead of one who answers.
fn other_socket() -> Result<(), String> {
    let mut stream = connect()?;
    let mut greeting = [0; 64];
    (greeting[0], greeting[9], greeting[10], greeting[11]) = (0xff, 0x7f, 3, 1);
    greeting[12..16].copy_from_slice(b"NULL");
    let ready = b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB";
    stream.write_all(&greeting).and_then(|()| stream.write_all(ready)).map_err(|error| error.to_string())?;
    let _ = stream.read(&mut [0; 64]);
    stay();
    Ok(())
}

/// Two good steps, then the wrong one.
fn talk(mode: &str) -> Result<(), String> {
    let stream = connect()?;
    let mut wire = stream.try_clone().map_err(|error| error.to_string())?;
    let mut link = Link::open(Box::new(stream), Side::Rep, BODY_BYTES_MAX, None).map_err(|error| error.to_string())?;
    let mut toy = Toy::driver(Support::Save);
    let (mut request, mut reply, mut answers) = (Vec::new(), Vec::new(), Vec::new());
    let mut steps = 0;
    loop {
        link.receive(&mut request, None).map_err(|error| error.to_string())?;
        serve::answer(&mut toy, &request, &mut reply, &mut answers).map_err(|wrong| wrong.to_string())?;
        let asked: Request = body::decode(&request).map_err(|wrong| wrong.to_string())?;
        steps += asked.ops.iter().filter(|op| matches!(op, anabranch_bridge::Op::Step { .. })).count();
        if steps < 3 {
            link.send(&reply, &[], None).map_err(|error| error.to_string())?;
            continue;
        }
        let told: Reply = body::decode(&reply).map_err(|wrong| wrong.to_string())?;
        return match (mode, wrong(mode, &reply, &told)) {
            (_, Some(wrong)) if wrong.frame => link.send(&wrong.bytes, &[], None).map_err(|error| error.to_string()).map(|()| stay()),
            (_, Some(wrong)) => {
                wire.write_all(&wrong.bytes).map_err(|error| error.to_string())?;
                if mode == "cut-frame" { Ok(()) } else { Ok(stay()) }
            }
            ("trickle", None) => drip(&mut wire, &[0x01, 0x00, 0x00, 0xff], &[0x80]),
            ("pings", None) => drip(&mut wire, &[], b"\x04\x07\x04PING\x00\x00"),
            ("closes-link", None) => {
                let _ = wire.shutdown(std::net::Shutdown::Both);
                Ok(stay())
            }
            _ => Err(format!("no such mode: {mode:?}")),
        };
    }
}

/// A beginning, then a little every few milliseconds, for as long as somebody listens.
fn drip(wire: &mut UnixStream, first: &[u8], then: &[u8]) -> Result<(), String> {
    wire.write_all(first).map_err(|error| error.to_string())?;
    while wire.write_all(then).is_ok() {
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
