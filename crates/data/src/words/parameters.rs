//! The parameters of a workload, checked against its schema.

use std::collections::BTreeMap;
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

/// Parameters by name. Every parameter of the schema that has a default is present.
pub type Parameters = BTreeMap<String, Value>;
