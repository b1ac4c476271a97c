//! The answering side: any [`Instance`] served to a host in another process.
//!
//! This is how code in Rust, or whatever a Rust program can host (an FMU), becomes a process of its own.

use std::io;

use crate::blobs;
use crate::body;
use crate::clock::now;
use crate::instance::Instance;
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Answer, BODY_BYTES_MAX, Op, PROTOCOL, Reply, Request};
use crate::zmtp::{Address, AddressError, Link, LinkError, Listener, Side, Stream};

/// Environment variable in which a started program finds where to connect.
pub const ENDPOINT_VARIABLE: &str = "ANABRANCH_ENDPOINT";

/// How the host is reached.
#[derive(Debug)]
pub enum Endpoint {
    /// Connect there: the host started us and waits.
    Connect(Address),
    /// Wait there for hosts, one after another.
    Bind(Listener),
}

/// Why serving ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Nobody said where.
    #[error(
        "the environment variable {ENDPOINT_VARIABLE} is not set: this program is started by anabranch, or takes an address to listen at"
    )]
    NoEndpoint,
    /// A place that cannot be used.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The code that is served failed as a whole.
    #[error(transparent)]
    Instance(#[from] Misbehaviour),
}

impl Endpoint {
    /// Where the host that started this program waits.
    ///
    /// # Errors
    /// When no host did, or it waits on another machine.
    pub fn from_environment() -> Result<Self, ServeError> {
        let endpoint = std::env::var(ENDPOINT_VARIABLE).map_err(|_| ServeError::NoEndpoint)?;
        Ok(Self::Connect(Address::parse(&endpoint)?.local()?))
    }
    /// Listens at an address of this machine; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address is taken or belongs to another machine.
    pub fn bind(endpoint: &str) -> Result<Self, ServeError> {
        Ok(Self::Bind(Listener::bind(&Address::parse(endpoint)?.local()?)?))
    }
    /// Where it is.
    ///
    /// # Errors
    /// When the system does not know.
    pub fn address(&self) -> io::Result<Address> {
        match self {
            Self::Connect(address) => Ok(address.clone()),
            Self::Bind(listener) => listener.address(),
        }
    }
}

/// Whether there is somebody left to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Bye,
    Closed,
}

/// Answers a host until it says goodbye or closes the link. At an address of our own the next host is waited for
/// when one left without a goodbye.
///
/// # Errors
/// When the link cannot be had, or the instance itself fails: the process should end then, as a host takes it for a crash.
pub fn serve(instance: &mut dyn Instance, endpoint: &Endpoint) -> Result<(), ServeError> {
    match endpoint {
        Endpoint::Connect(address) => {
            let stream = address.connect(std::time::Duration::from_secs(10))?;
            serve_stream(instance, stream)?;
            Ok(())
        }
        Endpoint::Bind(listener) => loop {
            match serve_stream(instance, listener.accept()?) {
                Ok(After::Bye) => return Ok(()),
                // A host that talks nonsense or goes away is no reason to leave the others alone.
                Ok(After::Closed) | Err(ServeError::Link(_)) => {}
                Err(error) => return Err(error),
            }
        },
    }
}

fn serve_stream(instance: &mut dyn Instance, stream: Box<dyn Stream>) -> Result<After, ServeError> {
    let mut link = Link::open(stream, Side::Rep, BODY_BYTES_MAX, None)?;
    let (mut request, mut reply, mut answers) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let blobs = match link.receive(&mut request, None) {
            Ok(blobs) => blobs,
            Err(LinkError::Closed) => return Ok(After::Closed),
            Err(error) => return Err(error.into()),
        };
        let after = answer_with(instance, (&request, &blobs), &mut reply, &mut answers)?;
        link.send(&reply, &[], None)?;
        if after.is_some() {
            return Ok(After::Bye);
        }
    }
}

/// The reply to a request. One that cannot be read is answered too, or the host would wait for ever: number 0, one
/// failure that says where.
///
/// # Errors
/// When the instance as a whole misbehaved.
pub fn answer(
    instance: &mut dyn Instance,
    request: &[u8],
    reply: &mut Vec<u8>,
    answers: &mut Vec<Answer>,
) -> Result<Option<Ended>, Misbehaviour> {
    answer_with(instance, (request, &[]), reply, answers)
}

/// As [`answer`], with the frames that came beside the request.
fn answer_with(
    instance: &mut dyn Instance,
    (request, blobs): (&[u8], &[Vec<u8>]),
    reply: &mut Vec<u8>,
    answers: &mut Vec<Answer>,
) -> Result<Option<Ended>, Misbehaviour> {
    let began = now();
    let request = body::decode::<Request>(request).and_then(|mut request| match request.anabranch {
        PROTOCOL => blobs::together(&mut request.ops, blobs).map(|()| request),
        other => Err(Misbehaviour::new(
            Kind::WrongVersion,
            format!("the host speaks version {other} of the bridge protocol; this program speaks {PROTOCOL}"),
        )),
    });
    let request = match request {
        Ok(request) => request,
        Err(wrong) => {
            let answers = vec![Answer::Failed { text: wrong.to_string() }];
            body::encode(&Reply { anabranch: PROTOCOL, seq: 0, answers, seconds: None }, reply);
            return Ok(None);
        }
    };
    answers.clear();
    instance.exchange(&request.ops, answers)?;
    let seconds = Some(began.elapsed().as_secs_f64());
    let message = Reply { anabranch: PROTOCOL, seq: request.seq, answers: std::mem::take(answers), seconds };
    body::encode(&message, reply);
    *answers = message.answers;
    Ok(request.ops.iter().any(|op| matches!(op, Op::Bye {})).then_some(Ended))
}

/// The host said goodbye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;
