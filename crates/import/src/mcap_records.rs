//! The messages of an MCAP file in memory.
//!
//! Records are found here and only read by the crate: its own readers subtract the length that a record claims from what is
//! left of a chunk, which overflows on a damaged file.

use std::borrow::Cow;
use std::sync::Arc;

use mcap::read::{ChannelAccumulator, parse_record};
use mcap::records::{MessageHeader, Record, op};
use mcap::{Channel, MAGIC, McapError};

/// What stands before each record: one byte says its kind, eight its length.
const FRAME_BYTES: usize = 9;

/// One message with the channel it came by.
pub(crate) struct Message<'b> {
    pub(crate) header: MessageHeader,
    pub(crate) channel: Arc<Channel<'b>>,
    pub(crate) data: Cow<'b, [u8]>,
}

/// The messages of a whole file, in the order they were written.
pub(crate) struct Messages<'b> {
    file: &'b [u8],
    /// What is left of the chunk that is being read.
    chunk: &'b [u8],
    channels: ChannelAccumulator<'b>,
}

impl<'b> Messages<'b> {
    pub(crate) fn of(bytes: &'b [u8]) -> Result<Self, McapError> {
        let inside = bytes.strip_prefix(MAGIC).and_then(|rest| rest.strip_suffix(MAGIC));
        Ok(Self { file: inside.ok_or(McapError::BadMagic)?, chunk: &[], channels: ChannelAccumulator::default() })
    }
    fn next_message(&mut self) -> Result<Option<Message<'b>>, McapError> {
        loop {
            let in_chunk = !self.chunk.is_empty();
            let rest = if in_chunk { &mut self.chunk } else { &mut self.file };
            if rest.is_empty() {
                return Ok(None);
            }
            let cut = if in_chunk { McapError::UnexpectedEoc } else { McapError::UnexpectedEof };
            let (kind, body) = take_record(rest).ok_or(cut)?;
            match kind {
                // The summary after the end of the data only repeats.
                op::DATA_END if !in_chunk => return Ok(None),
                op::CHUNK if in_chunk => continue,
                op::SCHEMA | op::CHANNEL | op::MESSAGE | op::CHUNK => {}
                _ => continue,
            }
            match parse_record(kind, body)? {
                Record::Schema { header, data } => self.channels.add_schema(header, data)?,
                Record::Channel(channel) => self.channels.add_channel(channel)?,
                Record::Message { header, data } => {
                    let unknown = McapError::UnknownChannel(header.sequence, header.channel_id);
                    let channel = self.channels.get(header.channel_id).ok_or(unknown)?;
                    return Ok(Some(Message { header, channel, data }));
                }
                Record::Chunk { header, .. } if !header.compression.is_empty() => {
                    return Err(McapError::UnsupportedCompression(header.compression));
                }
                Record::Chunk { data: Cow::Borrowed(records), .. } => self.chunk = records,
                _ => {}
            }
        }
    }
}

impl<'b> Iterator for Messages<'b> {
    type Item = Result<Message<'b>, McapError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_message().transpose();
        if matches!(next, None | Some(Err(_))) {
            (self.file, self.chunk) = (&[], &[]);
        }
        next
    }
}

/// Kind and body of the first record, which is taken off; `None` where it is cut.
fn take_record<'b>(bytes: &mut &'b [u8]) -> Option<(u8, &'b [u8])> {
    let (&[kind, ref length @ ..], rest) = bytes.split_first_chunk::<FRAME_BYTES>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (body, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some((kind, body))
}
