//! The parameters of a workload, checked against its schema.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{BitRate, Bytes, CpuList, Priority};

/// A checked value of a workload's parameter; its kind is the schema's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A finite number.
    Number(f64),
    /// A text, a path or one word of a choice.
    Text(String),
    /// A stretch of time.
    Duration(Duration),
    /// A number of bytes.
    Size(Bytes),
    /// A rate of bits.
    BitRate(BitRate),
    /// A rate of packets a second.
    PacketRate(f64),
    /// A list of CPUs.
    Cpus(CpuList),
    /// A scheduling priority.
    Priority(Priority),
    /// Several values: words of a command, exit codes.
    List(Vec<Value>),
    /// Named values: an environment, metrics, endpoints.
    Table(BTreeMap<String, Value>),
}

/// For people, much as an experiment file has it. What identifies an experiment is written by
/// `Experiment::canonical` and not by this.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(truth) => write!(f, "{truth}"),
            Self::Integer(whole) => write!(f, "{whole}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Duration(duration) => write!(f, "{duration:?}"),
            Self::Size(bytes) => write!(f, "{} bytes", bytes.0),
            Self::BitRate(rate) => write!(f, "{} bit/s", rate.0),
            Self::PacketRate(rate) => write!(f, "{rate} packets/s"),
            Self::Cpus(cpus) => write!(f, "CPUs {cpus}"),
            Self::Priority(priority) => write!(f, "{priority}"),
            Self::List(items) => {
                let mut before = "[";
                for item in items {
                    write!(f, "{before}{item}")?;
                    before = ", ";
                }
                f.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Self::Table(items) => {
                let mut before = "{ ";
                for (name, item) in items {
                    write!(f, "{before}{name} = {item}")?;
                    before = ", ";
                }
                f.write_str(if items.is_empty() { "{}" } else { " }" })
            }
        }
    }
}

/// Parameters by name. Every parameter of the schema that has a default is present.
pub type Parameters = BTreeMap<String, Value>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_people_write_them() {
        let text = |text: &str| Value::Text(text.to_owned());
        let table = [("LANG", text("C")), ("N", Value::Integer(3))]
            .map(|(name, value)| (name.to_owned(), value));
        for (value, shown) in [
            (Value::Duration(Duration::from_millis(1)), "1ms"),
            (Value::Size(Bytes(64)), "64 bytes"),
            (Value::BitRate(BitRate(5e7)), "50000000 bit/s"),
            (Value::Priority(Priority::Nice(-5)), "nice:-5"),
            (text("a \"b\"\n"), "\"a \\\"b\\\"\\n\""),
            (
                Value::List(vec![text("make"), Value::Integer(2)]),
                "[\"make\", 2]",
            ),
            (Value::List(Vec::new()), "[]"),
            (Value::Table(table.into()), "{ LANG = \"C\", N = 3 }"),
            (Value::Table(BTreeMap::new()), "{}"),
        ] {
            assert_eq!(value.to_string(), shown);
        }
    }
}
