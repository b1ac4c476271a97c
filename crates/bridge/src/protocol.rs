//! The messages between host and child, and their frames: four bytes of length (little endian), then postcard.

use std::io::{self, Read, Write};

use anabranch_kernel::{Choice, ParamSpace, Params, Seed, SegmentEnd, Site, Variable, Verdicts};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Version of the messages; host and child must agree.
pub const PROTOCOL: u16 = 1;
/// Largest message. A longer length is noise on the line, not a message.
pub const FRAME_BYTES_MAX: usize = 16 << 20;

/// Address of a state: where it started and what was chosen since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// Seed of the run.
    pub seed: Seed,
    /// Start parameters.
    pub params: Params,
    /// One choice per segment.
    pub choices: Vec<Choice>,
}

/// What the driver reports about its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Base cycle since the start of the run.
    pub tick: u64,
    /// One value per [`Description::variables`].
    pub values: Vec<f64>,
}

/// The result of one segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// The state at its end.
    pub observation: Observation,
    /// How it ended.
    pub end: SegmentEnd,
    /// Violated *should* requirements.
    pub notes: Verdicts,
    /// Smallest margin on the way.
    pub margin: f64,
}

/// What a driver is, said once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Must equal [`PROTOCOL`].
    pub protocol: u16,
    /// Where errors enter.
    pub sites: Vec<Site>,
    /// Most sites in error at the same time.
    pub at_once: u16,
    /// Every variable of the state.
    pub variables: Vec<Variable>,
    /// Start parameters with more than one value.
    pub space: ParamSpace,
    /// Names of the requirements that verdicts refer to.
    pub requirements: Vec<String>,
    /// Whether equal states at different times may differ in their future.
    pub time_matters: bool,
    /// Simulated seconds of one segment.
    pub segment_seconds: f64,
}

/// From host to child. The end of the stream means "end".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Say what you are.
    Describe,
    /// Go to the start of the path and through its choices.
    Replay(Path),
    /// Run one segment from where you are.
    Run(Choice),
    /// Fork; the copy talks on the link that came along with this message.
    Branch,
}

/// From child to host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// To [`Request::Describe`].
    Description(Description),
    /// To [`Request::Replay`].
    Observed(Observation),
    /// To [`Request::Run`].
    Ran(Segment),
    /// To [`Request::Branch`], by the copy, with its process id.
    Branched(i32),
    /// The request cannot be honoured, with the reason.
    Refused(String),
}

/// The bytes of one frame.
///
/// # Errors
/// When the message is larger than [`FRAME_BYTES_MAX`].
pub fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = postcard::to_extend(message, vec![0_u8; 4]).map_err(io::Error::other)?;
    let length = u32::try_from(frame.len() - 4).unwrap_or(u32::MAX);
    body_length(length.to_le_bytes())?;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// The length in the head of a frame.
///
/// # Errors
/// When it is larger than [`FRAME_BYTES_MAX`].
pub fn body_length(head: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(head) as usize;
    if length > FRAME_BYTES_MAX {
        let text = format!("a frame of {length} bytes; is something else written to the protocol's stream?");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    Ok(length)
}

/// The message in the body of a frame.
///
/// # Errors
/// When the bytes are not such a message.
pub fn decode<M: DeserializeOwned>(body: &[u8]) -> io::Result<M> {
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "a frame longer than its message")),
        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
    }
}

/// Writes one message.
///
/// # Errors
/// When the other side is gone.
pub fn write_frame(out: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    out.write_all(&encode(message)?)?;
    out.flush()
}

/// Reads the body of one frame.
///
/// # Errors
/// When the other side is gone or writes something else.
pub fn read_body(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = [0_u8; 4];
    input.read_exact(&mut head)?;
    let mut body = vec![0_u8; body_length(head)?];
    input.read_exact(&mut body)?;
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_return_what_was_written_and_refuse_the_rest() {
        let request = Request::Replay(Path { seed: Seed(3), params: Params(vec![0.5]), choices: vec![Choice(2)] });
        let frame = encode(&request).unwrap();
        assert_eq!(decode::<Request>(&read_body(&mut frame.as_slice()).unwrap()).unwrap(), request);
        for cut in 0..frame.len() {
            assert!(read_body(&mut &frame[..cut]).is_err(), "cut at {cut}");
        }
        assert!(decode::<Request>(&[&frame[4..], &[0]].concat()).is_err());
        assert!(body_length(*b"text").is_err());
    }
}
