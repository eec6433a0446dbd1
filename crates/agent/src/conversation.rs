//! The agent's end of the conversation: frames over a pair of byte streams.
//!
//! It knows frames and streams, and nothing of what is said.

use std::io::{self, Read, Write};

use knobstat_data::messages::{END, FrameError, Header, Reply, Request, decode, encode, header};
use thiserror::Error;

/// Why the conversation ended otherwise than in order.
#[derive(Debug, Error)]
pub enum ConversationError {
    /// The stream failed.
    #[error("the front cannot be heard any more ({0})")]
    Stream(#[from] io::Error),
    /// What came over it is no request.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// Reads the next request. `None` when the front has said all that it will say.
///
/// # Errors
/// When the stream fails, ends within a frame, or carries something else than a request.
pub fn receive(stream: &mut impl Read) -> Result<Option<Request>, ConversationError> {
    let mut head = Header::default();
    let mut filled = 0;
    while filled < head.len() {
        match stream.read(&mut head[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    if head == END {
        return Ok(None);
    }
    let length = header(head)?;
    // What arrives decides how much is held, not what the header claims.
    let mut body = Vec::with_capacity(length.min(64 << 10));
    stream.take(length as u64).read_to_end(&mut body)?;
    if body.len() < length {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(Some(decode(&body)?))
}

/// Sends a reply.
///
/// # Errors
/// When the stream fails or the reply is too long for a frame.
pub fn send(stream: &mut impl Write, reply: &Reply) -> Result<(), ConversationError> {
    let frame = encode(reply)?;
    stream.write_all(&frame)?;
    stream.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_one_by_one_until_the_end() {
        let mut bytes = encode(&Request::Verify).unwrap();
        bytes.extend(encode(&Request::Restore).unwrap());
        let mut stream = bytes.as_slice();
        assert_eq!(receive(&mut stream).unwrap(), Some(Request::Verify));
        assert_eq!(receive(&mut stream).unwrap(), Some(Request::Restore));
        assert_eq!(receive(&mut stream).unwrap(), None);
    }

    #[test]
    fn a_frame_that_breaks_off_is_an_error_at_every_length() {
        let bytes = encode(&Request::Restore).unwrap();
        for length in 1..bytes.len() {
            assert!(receive(&mut &bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn the_request_to_end_ends_it_where_a_stream_has_no_end() {
        let mut bytes = encode(&Request::Verify).unwrap();
        bytes.extend(END);
        bytes.extend(encode(&Request::Restore).unwrap());
        let mut stream = bytes.as_slice();
        assert_eq!(receive(&mut stream).unwrap(), Some(Request::Verify));
        assert_eq!(receive(&mut stream).unwrap(), None);
    }

    #[test]
    fn a_claimed_length_makes_no_allocation_of_its_own() {
        let mut bytes = vec![b'k', b's', 1, 0];
        bytes.extend((16u32 << 20).to_le_bytes());
        bytes.extend([0; 10]);
        assert!(receive(&mut bytes.as_slice()).is_err());
    }
}
