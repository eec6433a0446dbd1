//! Ethernet frames around UDP datagrams, for the ways out that pass the kernel's own UDP by.
//! Pure: addresses in, bytes out.

use std::net::SocketAddrV4;

/// The headers of a frame: Ethernet (14), IPv4 (20) and UDP (8).
pub const FRAME_HEADERS: usize = 42;

const ETHERNET_HEADER: usize = 14;
const IPV4_HEADER: usize = 20;
const UDP_HEADER: usize = 8;

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressing {
    /// The Ethernet addresses: of the sender, of the receiver.
    pub link: ([u8; 6], [u8; 6]),
    /// The sender's socket address.
    pub from: SocketAddrV4,
    /// The receiver's socket address.
    pub to: SocketAddrV4,
    /// The differentiated services code point.
    pub code_point: u8,
}

impl Addressing {
    /// The headers of every frame with a payload of so many bytes: RFC 894, RFC 791, RFC 768.
    /// The UDP checksum is left out, as IPv4 allows. `None` for a payload that no IPv4 packet
    /// carries.
    pub fn headers(&self, payload: usize) -> Option<[u8; FRAME_HEADERS]> {
        let udp_length = u16::try_from(payload + UDP_HEADER).ok()?;
        let ip_length = u16::try_from(payload + UDP_HEADER + IPV4_HEADER).ok()?;
        let mut bytes = [0; FRAME_HEADERS];
        bytes[..6].copy_from_slice(&self.link.1);
        bytes[6..12].copy_from_slice(&self.link.0);
        bytes[12..14].copy_from_slice(&0x0800u16.to_be_bytes());
        let ip = &mut bytes[ETHERNET_HEADER..ETHERNET_HEADER + IPV4_HEADER];
        ip[0] = 0x45;
        ip[1] = self.code_point << 2;
        ip[2..4].copy_from_slice(&ip_length.to_be_bytes());
        // Not to be fragmented, so that its identification may be zero (RFC 6864).
        ip[6] = 0x40;
        ip[8] = 64;
        ip[9] = 17;
        ip[12..16].copy_from_slice(&self.from.ip().octets());
        ip[16..20].copy_from_slice(&self.to.ip().octets());
        let checksum = internet_checksum(ip);
        ip[10..12].copy_from_slice(&checksum.to_be_bytes());
        let udp = &mut bytes[ETHERNET_HEADER + IPV4_HEADER..];
        udp[..2].copy_from_slice(&self.from.port().to_be_bytes());
        udp[2..4].copy_from_slice(&self.to.port().to_be_bytes());
        udp[4..6].copy_from_slice(&udp_length.to_be_bytes());
        Some(bytes)
    }
}

/// The checksum of RFC 1071.
fn internet_checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = bytes
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESSING: Addressing = Addressing {
        link: ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]),
        from: SocketAddrV4::new(std::net::Ipv4Addr::new(192, 0, 2, 1), 4660),
        to: SocketAddrV4::new(std::net::Ipv4Addr::new(192, 0, 2, 2), 22136),
        code_point: 46,
    };

    #[test]
    fn the_checksum_of_a_header_with_its_checksum_is_zero() {
        let headers = ADDRESSING.headers(64).unwrap();
        assert_eq!(internet_checksum(&headers[14..34]), 0);
        // The example of RFC 1071, section 3.
        assert_eq!(
            internet_checksum(&[0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7]),
            !0xddf2
        );
    }

    #[test]
    fn lengths_ports_and_the_code_point_stand_where_they_should() {
        let headers = ADDRESSING.headers(64).unwrap();
        assert_eq!(headers[..6], [2, 0, 0, 0, 0, 2]);
        assert_eq!(headers[15], 46 << 2);
        assert_eq!(headers[16..18], 92u16.to_be_bytes());
        assert_eq!(headers[34..40], [0x12, 0x34, 0x56, 0x78, 0, 72]);
    }

    #[test]
    fn what_no_packet_carries_has_no_headers() {
        assert!(ADDRESSING.headers(65_507).is_some());
        assert_eq!(ADDRESSING.headers(65_508), None);
        assert_eq!(ADDRESSING.headers(usize::MAX - 100), None);
    }
}
