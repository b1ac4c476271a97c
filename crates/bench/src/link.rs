//! Steps of a driver behind a socket: one at a time and many in one message, beside a bare ping-pong of the same bytes.
//!
//! Both sides are threads of this process, so CPU time counts what host and driver spend together.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use anabranch_bridge::{
    Answer, Begin, Card, ConnectFactory, Deadlines, Decision, Endpoint, Fleet, FleetLimits, Instance, Misbehaviour, Op,
    PROTOCOL, Reach, Role, Seen, Snapshot, Support, body, serve,
};

use crate::timing::medians_cpu_s;
use crate::{Figure, Goal};

/// Steps in one measurement.
const STEPS: usize = 5_120;
const REPEATS: usize = 7;

/// A driver of one line.
struct Proportional(Card);

impl Instance for Proportional {
    fn card(&self) -> &Card {
        &self.0
    }
    fn seconds(&self) -> f64 {
        0.0
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        answers.extend(ops.iter().map(|op| match op {
            Op::Describe {} => Answer::Card(Box::new(self.0.clone())),
            Op::Step { seen, .. } => {
                Answer::Decision(Decision { steer: -0.5 * seen.path.lateral, ..Decision::default() })
            }
            _ => Answer::Done {},
        }));
        Ok(())
    }
}

fn card() -> Card {
    Card {
        protocol: PROTOCOL,
        role: Role::Driver,
        name: "proportional".to_owned(),
        version: String::new(),
        support: Support::Replay,
        snapshot: Snapshot::None,
        cycle_s: None,
        key: Vec::new(),
        saves_bytes: false,
        memoryless: true,
        wants: Vec::new(),
        code: None,
        world: None,
    }
}

/// Echoes messages of one size until the other side leaves.
fn bare_peer(bytes_in: usize, bytes_out: usize) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("one connection");
        stream.set_nodelay(true).expect("a socket");
        let (mut request, reply) = (vec![0; bytes_in], vec![0; bytes_out]);
        while stream.read_exact(&mut request).is_ok() && stream.write_all(&reply).is_ok() {}
    });
    let stream = TcpStream::connect(address).expect("the peer listens");
    stream.set_nodelay(true).expect("a socket");
    stream
}

fn encoded_bytes(message: &impl serde::Serialize) -> usize {
    let mut bytes = Vec::new();
    body::encode(message, &mut bytes);
    bytes.len()
}

pub(crate) fn run() -> Vec<Figure> {
    let endpoint = Endpoint::bind("tcp://127.0.0.1:0").expect("a free port");
    let address = endpoint.address().expect("an address").to_string();
    std::thread::spawn(move || serve(&mut Proportional(card()), &endpoint));
    let factory = ConnectFactory::new(&address, Reach::Loopback, Deadlines::default()).expect("loopback");
    let fleet = Fleet::new(Box::new(factory), FleetLimits::default()).expect("the peer serves");
    let step = |branch| Op::Step { branch, seen: Box::new(Seen::default()) };
    let batches = [1, 16, 256].map(|size| (0..size).map(step).collect::<Vec<Op>>());
    let begin = Op::Reset { branch: 0, begin: Box::new(Begin::default()) };
    fleet.seat(0).ask(&[begin]).expect("it resets");
    let send = |ops: &[Op]| {
        for _ in 0..STEPS / ops.len() {
            fleet.seat(0).ask(ops).expect("it answers");
        }
    };
    // Frames, version and number make up the rest of a message around one operation or one answer.
    let bytes_in = encoded_bytes(&batches[0][0]) + 35;
    let bytes_out = encoded_bytes(&Answer::Decision(Decision::default())) + 50;
    let mut bare = bare_peer(bytes_in, bytes_out);
    let mut ping_pong = || {
        let (request, mut reply) = (vec![0; bytes_in], vec![0; bytes_out]);
        for _ in 0..STEPS {
            bare.write_all(&request).and_then(|()| bare.read_exact(&mut reply)).expect("the peer echoes");
        }
    };
    let [bare_s, one_s, some_s, many_s] = medians_cpu_s(
        REPEATS,
        [&mut ping_pong, &mut || send(&batches[0]), &mut || send(&batches[1]), &mut || send(&batches[2])],
    );
    let rate = |seconds: f64| STEPS as f64 / seconds;
    vec![
        Figure::new("bare ping-pong of the same bytes, messages per CPU second", rate(bare_s), Goal::None),
        Figure::new("driver steps per CPU second of both sides, one per message", rate(one_s), Goal::None),
        Figure::new("the same, relative to the bare ping-pong", bare_s / one_s, Goal::AtLeast(0.5)),
        Figure::new("driver steps per CPU second of both sides, 16 per message", rate(some_s), Goal::None),
        Figure::new("driver steps per CPU second of both sides, 256 per message", rate(many_s), Goal::None),
        Figure::new("256 per message relative to one per message", one_s / many_s, Goal::AtLeast(5.0)),
    ]
}
