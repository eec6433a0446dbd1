//! The load generator by itself.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use knobstat_data::experiment::{Rate, parse_rate, parse_size};
use knobstat_data::words::Bytes;

use super::surveys::positive_duration;

/// `knobstat udp`
#[derive(Debug, Subcommand)]
pub enum Udp {
    /// Receive what senders send, and tell each what arrived.
    Recv(UdpReceive),
    /// Send to a `knobstat udp recv`, and show both ends' view as one result.
    Send(UdpSend),
}

/// `knobstat udp recv`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat udp recv
  knobstat udp recv --bind 192.0.2.2 --token-file token --cpu 1")]
pub struct UdpReceive {
    /// The address to listen at.
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0")]
    pub bind: IpAddr,
    /// The TCP port of the control connections; datagrams have ports of the kernel's choice.
    #[arg(long, value_name = "PORT", default_value_t = 5447)]
    pub port: u16,
    /// Refuse senders that do not know what is in this file.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// The most senders at once.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub most_senders: u16,
    /// The most senders at once from one address.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub most_per_address: u16,
    /// Drop a sender of which nothing is heard for this long.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = positive_duration)]
    pub idle: Duration,
    /// End after so many senders.
    #[arg(long, value_name = "N")]
    pub senders: Option<u64>,
    /// Receive on this CPU, or send on it where a peer asks for that.
    #[arg(long, value_name = "CPU")]
    pub cpu: Option<u32>,
    /// Print each event as a line of JSON.
    #[arg(long)]
    pub json: bool,
}

/// `knobstat udp send`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat udp send 192.0.2.2 --duration 10s
  knobstat udp send 192.0.2.2:5447 --rate 10000 --delays --json
  knobstat udp send 192.0.2.2 --rate 50Mbit --packet-size 1400 --flows 4
  knobstat udp send 192.0.2.2 --reverse
  knobstat udp send '[fe80::2%eth0]:5447' --method gso --packet-size 1200")]
pub struct UdpSend {
    /// The receiver: HOST, HOST:PORT or, for an IPv6 address, `[ADDRESS]:PORT`.
    pub receiver: String,
    /// The payload of a datagram in bytes, or with a unit, as in 4KiB.
    #[arg(long, value_name = "SIZE", default_value = "64", value_parser = parse_size)]
    pub packet_size: Bytes,
    /// How datagrams are handed to the kernel: send, sendmmsg, gso or io_uring.
    #[arg(long, value_name = "METHOD", default_value = "sendmmsg")]
    pub method: String,
    /// How the receiver waits: napping, blocking, gro or io_uring.
    #[arg(long, value_name = "METHOD", default_value = "napping")]
    pub receiver_method: String,
    /// Let the receiver send to this end instead.
    #[arg(long, conflicts_with = "both")]
    pub reverse: bool,
    /// Send both ways at once.
    #[arg(long)]
    pub both: bool,
    /// Datagrams a second, or bits of payload a second, as in 50Mbit; by default as fast as it
    /// goes.
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    pub rate: Option<Rate>,
    /// Give up the times that a schedule has missed, instead of making up for them at once.
    #[arg(long, requires = "rate")]
    pub no_catch_up: bool,
    /// How long is sent.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = positive_duration)]
    pub duration: Duration,
    /// How many datagrams are sent, exactly, in place of a duration.
    #[arg(long, value_name = "N")]
    pub count: Option<i64>,
    /// How many flows there are side by side.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub flows: i64,
    /// The number of each flow's first datagram.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub first_number: i64,
    /// The receive buffer that each flow's receiver asks for.
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = parse_size)]
    pub receive_buffer: Bytes,
    /// The differentiated services code point, 0 to 63.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub dscp: i64,
    /// The sender's address.
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// Send on this CPU; with `--reverse`, receive on it.
    #[arg(long, value_name = "CPU")]
    pub cpu: Option<u32>,
    /// Measure gaps and one-way delays, at the cost of reading the clock for each datagram.
    #[arg(long)]
    pub delays: bool,
    /// What the receiver wants to be known.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// How often what has arrived so far is told.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = positive_duration)]
    pub interval: Duration,
    /// Let nothing cross the wire while datagrams do, and tell nothing meanwhile.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print as JSON: knobstat.udp/1.
    #[arg(long)]
    pub json: bool,
}
