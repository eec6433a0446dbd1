//! The way from one end to the other: what it takes whole, and where it cuts buffers.

use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use knobstat_sys::net::{accept_uncut, cut_datagrams_to, route_mtu};

use super::failure::{RunError, system};
use super::figures::{Class, Route};
use super::link::{Link, meet};
use super::options::{Method, Options, ReceiverMethod};

/// Finds out about the way that a connected socket's datagrams take.
///
/// # Errors
/// When its MTU cannot be read, what is to be sent does not fit it, or a buffer sent to find out
/// where it is cut does not arrive.
pub(super) fn find(options: &Options, link: &Link, sender: &UdpSocket) -> Result<Route, RunError> {
    let unknown = "the route between the two sockets cannot be told";
    let mtu_bytes = u64::from(route_mtu(sender).map_err(system(unknown))?);
    let is_ipv4 = sender.local_addr().map_err(system(unknown))?.is_ipv4();
    let fragments_per_packet = fragments(options.packet_size as u64, mtu_bytes, is_ipv4);
    if options.method.goes_whole() && fragments_per_packet > 1 {
        return Err(RunError::TooLarge {
            method: options.method.word(),
            size: options.packet_size,
            most: most_unfragmented(mtu_bytes, is_ipv4),
        });
    }
    let datagrams_per_buffer = match options.method {
        Method::Gso => options.method.datagrams_per_call(options.packet_size) as u64,
        _ => 1,
    };
    let class = if datagrams_per_buffer == 1 {
        Class::A
    } else if !arrives_uncut(link).map_err(system(unknown))? {
        Class::B
    } else if options.receiver_method == ReceiverMethod::Gro {
        Class::D
    } else {
        Class::C
    };
    Ok(Route {
        mtu_bytes,
        fragments_per_packet,
        datagrams_per_buffer,
        class,
    })
}

/// Whether a buffer for segmentation offload reaches a receiving socket in one piece: asked of
/// the kernel by sending one to a socket that takes it so.
fn arrives_uncut(link: &Link) -> io::Result<bool> {
    const DATAGRAM: u16 = 64;
    let receiver = link.receiver.bind()?;
    let sender = link.sender.bind()?;
    meet(&sender, &receiver)?;
    if accept_uncut(&receiver).is_err() || cut_datagrams_to(&sender, DATAGRAM).is_err() {
        // A kernel before 5.0 always cuts on the way.
        return Ok(false);
    }
    receiver.set_read_timeout(Some(Duration::from_secs(1)))?;
    let buffer = [0; 2 * DATAGRAM as usize];
    sender.send(&buffer)?;
    Ok(receiver.recv(&mut [0; 2 * DATAGRAM as usize])? == buffer.len())
}

/// The largest payload that a route takes whole.
pub(super) fn most_unfragmented(mtu: u64, is_ipv4: bool) -> u64 {
    mtu.saturating_sub(UDP_HEADER + if is_ipv4 { 20 } else { 40 })
}

/// The header of RFC 768.
const UDP_HEADER: u64 = 8;

/// The packets that a datagram becomes on a route: each fragment carries a multiple of eight
/// bytes of what follows the IP header (RFC 791, 3.2; RFC 8200, 4.5).
pub(super) fn fragments(payload: u64, mtu: u64, is_ipv4: bool) -> u64 {
    let (header, fragment_header) = if is_ipv4 { (20, 0) } else { (40, 8) };
    let carried = payload + UDP_HEADER;
    if carried + header <= mtu {
        return 1;
    }
    let room = mtu.saturating_sub(header + fragment_header) / 8 * 8;
    carried.div_ceil(room.max(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_one_packet_and_a_byte_more_is_two() {
        assert_eq!(fragments(1472, 1500, true), 1);
        assert_eq!(fragments(1473, 1500, true), 2);
        assert_eq!(fragments(1452, 1500, false), 1);
        assert_eq!(fragments(1453, 1500, false), 2);
        assert_eq!(fragments(0, 1500, true), 1);
        assert_eq!(most_unfragmented(1500, true), 1472);
        assert_eq!(most_unfragmented(1500, false), 1452);
    }

    #[test]
    fn the_largest_datagram_fits_the_loopback_interface() {
        assert_eq!(fragments(65_507, 65_536, true), 1);
        // 65,515 bytes in pieces of 1480.
        assert_eq!(fragments(65_507, 1500, true), 45);
    }
}
