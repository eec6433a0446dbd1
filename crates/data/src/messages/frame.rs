//! Frames: a message as bytes, with a version and a length that is checked before anything is
//! made from it.
//!
//! A frame is the two letters `ks`, the version (one byte), a zero byte, the length of the body
//! (four bytes, little-endian), and the body in postcard's encoding.
//!
//! Two headers carry no message and have a number in place of the zero byte, for streams that
//! cannot say the same otherwise, as a serial line: [`READY`], because what is sent before the
//! other side listens is lost there, and [`END`], because it has no end.

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// The version of the conversation. Both ends must speak the same one.
pub const VERSION: u8 = 1;

/// No frame's body is longer than this: 16 MiB.
pub const LARGEST_FRAME: usize = 16 << 20;

/// The length of what precedes a body.
const HEADER_LENGTH: usize = 8;

/// The bytes before a body.
pub type Header = [u8; HEADER_LENGTH];

/// From the side that serves: it listens from now on. Whatever came before is not part of the
/// conversation.
pub const READY: Header = [b'k', b's', VERSION, 1, 0, 0, 0, 0];

/// From the side that asks: it has nothing more to ask. During a run any byte is the request to
/// end, and this one is the only one that is understood afterwards.
pub const END: Header = [b'k', b's', VERSION, 2, 0, 0, 0, 0];

/// Why bytes are not a frame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// They do not begin as a frame does.
    #[error("the other side does not speak knobstat's conversation")]
    NotAFrame,
    /// Another version speaks there.
    #[error(
        "the other side speaks version {0} of the conversation and this one {VERSION}: use the same knobstat on both"
    )]
    Version(u8),
    /// The length is beyond the cap.
    #[error("a message of {0} bytes is beyond the {LARGEST_FRAME} that a frame may hold")]
    TooLong(usize),
    /// The body does not read as the message expected.
    #[error("a message could not be understood: {0}")]
    Body(String),
}

/// A message as a frame.
///
/// # Errors
/// [`FrameError::TooLong`] when it does not fit, [`FrameError::Body`] when it cannot be encoded.
pub fn encode<M: Serialize>(message: &M) -> Result<Vec<u8>, FrameError> {
    let body = postcard::to_stdvec(message).map_err(|error| FrameError::Body(error.to_string()))?;
    if body.len() > LARGEST_FRAME {
        return Err(FrameError::TooLong(body.len()));
    }
    let mut frame = Vec::with_capacity(HEADER_LENGTH + body.len());
    frame.extend_from_slice(&[b'k', b's', VERSION, 0]);
    frame.extend_from_slice(&(body.len() as u32).to_le_bytes());
    frame.extend_from_slice(&body);
    Ok(frame)
}

/// The length of the body that follows a header.
///
/// # Errors
/// When the header is none, of another version, or names a length beyond the cap.
pub fn header(header: Header) -> Result<usize, FrameError> {
    let [b'k', b's', version, reserved, length @ ..] = header else {
        return Err(FrameError::NotAFrame);
    };
    if version != VERSION {
        return Err(FrameError::Version(version));
    }
    if reserved != 0 {
        return Err(FrameError::NotAFrame);
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > LARGEST_FRAME {
        return Err(FrameError::TooLong(length));
    }
    Ok(length)
}

/// The message in a body; all of the body must belong to it.
///
/// # Errors
/// [`FrameError::Body`] when it does not read as the message expected.
pub fn decode<M: DeserializeOwned>(body: &[u8]) -> Result<M, FrameError> {
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        Ok((_, rest)) => Err(FrameError::Body(format!("{} bytes too many", rest.len()))),
        Err(error) => Err(FrameError::Body(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Reply, Request};
    use crate::words::Setting;
    use proptest::prelude::*;

    #[test]
    fn a_message_comes_back_from_its_frame() {
        let request = Request::Apply(vec![Setting::new("turbo", "off")]);
        let frame = encode(&request).unwrap();
        let (head, body) = frame.split_first_chunk().unwrap();
        assert_eq!(header(*head), Ok(body.len()));
        assert_eq!(decode::<Request>(body), Ok(request));
    }

    #[test]
    fn a_length_beyond_the_cap_is_refused_before_anything_is_made() {
        assert_eq!(
            header([b'k', b's', VERSION, 0, 0xff, 0xff, 0xff, 0xff]),
            Err(FrameError::TooLong(0xffff_ffff))
        );
        assert_eq!(header(*b"GET / HT"), Err(FrameError::NotAFrame));
        assert_eq!(
            header([b'k', b's', 9, 0, 0, 0, 0, 0]),
            Err(FrameError::Version(9))
        );
    }

    #[test]
    fn the_headers_without_a_message_announce_no_body() {
        for signal in [READY, END] {
            assert_eq!(header(signal), Err(FrameError::NotAFrame));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode::<Request>(&bytes);
            let _ = decode::<Reply>(&bytes);
            if let Some((head, _)) = bytes.split_first_chunk() {
                let _ = header(*head);
            }
        }

        #[test]
        fn a_damaged_frame_never_panics(at in 0usize..40, flip in 1u8..) {
            let request = Request::Apply(vec![Setting::new("clocksource", "acpi_pm")]);
            let mut frame = encode(&request).unwrap();
            let at = at % frame.len();
            frame[at] ^= flip;
            let (head, body) = frame.split_first_chunk().unwrap();
            if header(*head).is_ok_and(|length| length == body.len()) {
                let _ = decode::<Request>(body);
            }
        }
    }
}
