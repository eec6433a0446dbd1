//! The counters of the network namespace and of its interfaces: /proc/thread-self/net/snmp and
//! /proc/thread-self/net/dev, read as a whole and decoded afterwards.

use std::io;

/// The counters that a UDP measurement looks at, each since the namespace was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamespaceCounters {
    /// `Udp: InDatagrams`: handed to programs.
    pub received: u64,
    /// `Udp: OutDatagrams`: taken from programs.
    pub sent: u64,
    /// `Udp: NoPorts`: to a port where nobody listened.
    pub no_port: u64,
    /// `Udp: RcvbufErrors`: dropped at a full receive buffer.
    pub receive_buffer_errors: u64,
    /// `Udp: SndbufErrors`: refused at a full send buffer.
    pub send_buffer_errors: u64,
    /// `Ip: ReasmReqds`: fragments that came.
    pub fragments: u64,
    /// `Ip: ReasmFails`: packets that could not be put together from their fragments.
    pub reassembly_failures: u64,
}

impl NamespaceCounters {
    /// The counters as they stand.
    ///
    /// # Errors
    /// Where /proc is not there or says nothing of UDP.
    pub fn read() -> io::Result<Self> {
        Self::decode(&std::fs::read_to_string("/proc/thread-self/net/snmp")?).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "/proc/thread-self/net/snmp has no counters of UDP",
            )
        })
    }

    /// The counters in the text of /proc/net/snmp; a counter that an old kernel lacks is zero,
    /// and `None` is a text without those of UDP.
    pub fn decode(text: &str) -> Option<Self> {
        let udp = |name| counter(text, "Udp:", name);
        let ip = |name| counter(text, "Ip:", name);
        Some(Self {
            received: udp("InDatagrams")?,
            sent: udp("OutDatagrams")?,
            no_port: udp("NoPorts").unwrap_or(0),
            receive_buffer_errors: udp("RcvbufErrors").unwrap_or(0),
            send_buffer_errors: udp("SndbufErrors").unwrap_or(0),
            fragments: ip("ReasmReqds").unwrap_or(0),
            reassembly_failures: ip("ReasmFails").unwrap_or(0),
        })
    }

    /// What was counted since an earlier reading. Counters that the kernel keeps in 32 bits and
    /// that wrapped meanwhile give zero.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            received: self.received.saturating_sub(earlier.received),
            sent: self.sent.saturating_sub(earlier.sent),
            no_port: self.no_port.saturating_sub(earlier.no_port),
            receive_buffer_errors: self
                .receive_buffer_errors
                .saturating_sub(earlier.receive_buffer_errors),
            send_buffer_errors: self
                .send_buffer_errors
                .saturating_sub(earlier.send_buffer_errors),
            fragments: self.fragments.saturating_sub(earlier.fragments),
            reassembly_failures: self
                .reassembly_failures
                .saturating_sub(earlier.reassembly_failures),
        }
    }
}

/// What an interface has counted since it was made.
///
/// A buffer that passes it uncut counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCounters {
    /// Packets that it received.
    pub received: u64,
    /// Packets that it dropped on their way in, a full queue included.
    pub dropped_receiving: u64,
    /// Packets that it dropped on their way out.
    pub dropped_sending: u64,
}

impl InterfaceCounters {
    /// The counters of an interface of this thread's network namespace as they stand.
    ///
    /// # Errors
    /// Where /proc is not there or has no such interface.
    pub fn read(interface: &str) -> io::Result<Self> {
        let text = std::fs::read_to_string("/proc/thread-self/net/dev")?;
        Self::decode(&text, interface).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                format!("/proc/thread-self/net/dev has no interface {interface}"),
            )
        })
    }

    /// What was counted since an earlier reading.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            received: self.received.saturating_sub(earlier.received),
            dropped_receiving: self
                .dropped_receiving
                .saturating_sub(earlier.dropped_receiving),
            dropped_sending: self.dropped_sending.saturating_sub(earlier.dropped_sending),
        }
    }

    /// The counters of an interface in the text of /proc/net/dev; `None` where it is not there.
    pub fn decode(text: &str, interface: &str) -> Option<Self> {
        // bytes packets errs drop fifo frame compressed multicast, then bytes packets errs drop fifo …
        let columns: Vec<u64> = text
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.trim() == interface)
            .map(|(_, columns)| columns.split_ascii_whitespace())?
            .map_while(|column| column.parse().ok())
            .collect();
        let column = |index: usize| columns.get(index).copied();
        Some(Self {
            received: column(1)?,
            dropped_receiving: column(3)?.saturating_add(column(4)?),
            dropped_sending: column(11)?.saturating_add(column(12)?),
        })
    }
}

/// A counter by the name in the first of the two lines that a protocol has.
fn counter(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol));
    let names = lines.next()?.split_ascii_whitespace();
    let values = lines.next()?.split_ascii_whitespace();
    names
        .zip(values)
        .find(|(found, _)| *found == name)
        .and_then(|(_, value)| value.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Ip: Forwarding DefaultTTL ReasmTimeout ReasmReqds ReasmOKs ReasmFails
Ip: 2 64 0 88 20 3
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors
Udp: 143 5 7 144 6 2 0
UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors
UdpLite: 9 9 9 9 9 9 9
";

    #[test]
    fn counters_are_found_by_their_names() {
        assert_eq!(
            NamespaceCounters::decode(TEXT),
            Some(NamespaceCounters {
                received: 143,
                sent: 144,
                no_port: 5,
                receive_buffer_errors: 6,
                send_buffer_errors: 2,
                fragments: 88,
                reassembly_failures: 3,
            })
        );
    }

    #[test]
    fn a_text_without_udp_has_no_counters() {
        for text in [
            "",
            "Udp:",
            "Udp: InDatagrams\n",
            "UdpLite: InDatagrams\nUdpLite: 3\n",
        ] {
            assert_eq!(NamespaceCounters::decode(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_interface_is_found_by_its_whole_name() {
        let text = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets
    lo: 1234 56 0 3 1 0 0 0 1234 56 0 5 2 0 0 0
lo2:9 7 0 0 0 0 0 0 1 1 0 0 0 0 0 0
lo3: 9 7
";
        let counters = |name| InterfaceCounters::decode(text, name);
        assert_eq!(
            counters("lo"),
            Some(InterfaceCounters {
                received: 56,
                dropped_receiving: 4,
                dropped_sending: 7,
            })
        );
        assert_eq!(counters("lo2").map(|counters| counters.received), Some(7));
        for absent in ["lo3", "eth0", ""] {
            assert_eq!(counters(absent), None, "{absent}");
        }
    }

    #[test]
    fn a_datagram_of_ours_is_counted() {
        let before = NamespaceCounters::read().unwrap();
        let receiver = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        receiver
            .send_to(b"x", receiver.local_addr().unwrap())
            .unwrap();
        let after = NamespaceCounters::read().unwrap();
        assert!(after.since(&before).sent >= 1);
        assert_eq!(before.since(&after), NamespaceCounters::default());
    }
}
