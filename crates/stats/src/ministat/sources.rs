//! Where inputs come from: opened by the caller, in the order each profile opens them.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};

use super::failure::Failure;
use super::options::Options;
use super::reader::{self, Values};

/// Fewer values than this are no data set.
const FEWEST_POINTS: usize = 3;

/// An input as the arguments name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// No operand at all, or the operand `-`.
    StandardInput,
    /// A file.
    File(OsString),
}

impl Input {
    pub(super) fn from_operand(operand: &OsStr) -> Self {
        if operand == "-" {
            Self::StandardInput
        } else {
            Self::File(operand.to_owned())
        }
    }
}

/// Opens inputs.
pub trait Sources {
    /// The bytes of one input.
    type Reader: Read;

    /// Opens `input`. Standard input may be asked for more than once: after the first time it
    /// has nothing left.
    ///
    /// # Errors
    /// The system's, whose words become part of the message.
    fn open(&mut self, input: &Input) -> io::Result<Self::Reader>;
}

/// Opens and reads every input and hands its name and values to `take`, which gives back memory
/// for the values of the next.
pub(super) fn read_each<S: Sources>(
    options: &Options,
    sources: &mut S,
    mut take: impl FnMut(Vec<u8>, Values) -> Vec<f64>,
) -> Result<(), Failure> {
    let mut open = |input: &NamedInput| {
        sources
            .open(&input.input)
            .map_err(|reason| Failure::CannotOpen {
                name: input.name.clone(),
                reason,
                profile: options.profile,
            })
    };
    let mut memory = Vec::new();
    let mut read = |input: &NamedInput, reader: S::Reader| {
        let line_buffer = options.profile.line_buffer();
        let memory_now = std::mem::take(&mut memory);
        let values = reader::read(reader, &options.column, line_buffer, memory_now)
            .map_err(|failure| Failure::reading(&input.name, failure, options.profile))?;
        if values.values.len() < FEWEST_POINTS {
            return Err(Failure::TooFewPoints {
                name: input.name.clone(),
            });
        }
        memory = take(input.name.clone(), values);
        Ok(())
    };
    if options.profile.opens_all_first() {
        let readers: Vec<S::Reader> = options.inputs.iter().map(open).collect::<Result<_, _>>()?;
        options
            .inputs
            .iter()
            .zip(readers)
            .try_for_each(|(input, reader)| read(input, reader))
    } else {
        options.inputs.iter().try_for_each(|input| {
            let reader = open(input)?;
            read(input, reader)
        })
    }
}

/// An input and the name it has in messages and reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedInput {
    pub(super) input: Input,
    pub(super) name: Vec<u8>,
}
