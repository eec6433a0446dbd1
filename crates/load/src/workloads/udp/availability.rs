//! What of the parameters this kernel and this link refuse, found out by asking them.
//!
//! Nothing of the caller changes: what would change it is tried in a child process.

use std::io;
use std::net::UdpSocket;

use knobstat_data::Parameters;
use knobstat_sys::net::namespace::{Capability, try_in_a_child};
use knobstat_sys::net::{accept_uncut, cut_datagrams_to, try_io_uring, try_multishot_receive};

use super::super::Lacking;
use super::link::PAIR_MTU;
use super::options::{Endpoints, Method, Options, ReceiverMethod};
use super::route::most_unfragmented;

/// The first parameter whose value cannot be had here.
pub(super) fn lacks(parameters: &Parameters) -> Option<Lacking> {
    match Options::read(parameters) {
        Ok(options) => lack_of(&options).err(),
        Err(error) => Some(Lacking {
            parameter: error.name,
            reason: format!("should be {}, but {}", error.expected, error.found),
            remedy: None,
        }),
    }
}

fn lack_of(options: &Options) -> Result<(), Lacking> {
    let is_ipv4 = options.bind.is_none_or(|bind| bind.is_ipv4());
    if options.endpoints == Endpoints::Veth {
        had(
            "endpoints",
            try_in_a_child(Capability::Namespace),
            || "veth needs network namespaces: run as root, or allow user namespaces",
        )?;
    }
    let frames = |capability, what: &'static str| {
        if options.endpoints != Endpoints::Veth {
            return Err(lacking(
                "method",
                format!("{what} lays whole frames on an interface of the run's own"),
                "set endpoints = \"veth\"",
            ));
        }
        if !is_ipv4 {
            return Err(lacking(
                "method",
                format!("{what} makes frames of IPv4 only"),
                "leave bind at \"any\"",
            ));
        }
        had(
            "method",
            try_in_a_child(capability),
            || "it needs CAP_NET_RAW and a kernel with this kind of socket",
        )
    };
    match options.method {
        Method::Send | Method::Sendmmsg => {}
        Method::Gso => had(
            "method",
            loopback(|socket| cut_datagrams_to(socket, 64)),
            || "gso needs Linux 4.18 or later",
        )?,
        Method::IoUring => had(
            "method",
            try_io_uring(),
            || "io_uring needs Linux 5.6 and kernel.io_uring_disabled = 0",
        )?,
        Method::TxRing => frames(Capability::PacketSocket, "tx_ring")?,
        Method::AfXdp => frames(Capability::XdpSocket, "af_xdp")?,
    }
    match options.receiver_method {
        ReceiverMethod::Napping | ReceiverMethod::Blocking => {}
        ReceiverMethod::Gro => had(
            "receiver_method",
            loopback(accept_uncut),
            || "gro needs Linux 5.0 or later",
        )?,
        ReceiverMethod::IoUring => had(
            "receiver_method",
            try_multishot_receive(),
            || "a multishot receive needs Linux 6.1 and kernel.io_uring_disabled = 0",
        )?,
    }
    fits(options, is_ipv4)
}

/// What goes whole has to fit the pair's MTU. That of the loopback interface is the machine's, and
/// the run finds it out.
fn fits(options: &Options, is_ipv4: bool) -> Result<(), Lacking> {
    let goes_whole = options.method.goes_whole() && options.endpoints == Endpoints::Veth;
    let most = most_unfragmented(u64::from(PAIR_MTU), is_ipv4);
    if !goes_whole || options.packet_size as u64 <= most {
        return Ok(());
    }
    Err(lacking(
        "packet_size",
        format!(
            "{} bytes do not fit the pair's MTU whole, and method = \"{}\" makes no fragments",
            options.packet_size,
            options.method.word()
        ),
        "stay below 1473 bytes (IPv6: 1453), or choose \"sendmmsg\"",
    ))
}

fn loopback(ask: impl FnOnce(&UdpSocket) -> io::Result<()>) -> io::Result<()> {
    ask(&UdpSocket::bind("127.0.0.1:0")?)
}

fn had(
    parameter: &str,
    tried: io::Result<()>,
    remedy: impl FnOnce() -> &'static str,
) -> Result<(), Lacking> {
    tried.map_err(|error| {
        lacking(
            parameter,
            format!("the kernel refuses it: {error}"),
            remedy(),
        )
    })
}

fn lacking(parameter: &str, reason: String, remedy: &str) -> Lacking {
    Lacking {
        parameter: parameter.to_owned(),
        reason,
        remedy: Some(remedy.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use knobstat_data::Value;
    use knobstat_data::words::Bytes;

    use super::*;

    fn lack<const N: usize>(given: [(&str, &str); N], size: u64) -> Option<Lacking> {
        let mut parameters: Parameters = given
            .map(|(name, word)| (name.to_owned(), Value::Text(word.to_owned())))
            .into();
        parameters.insert("packet_size".to_owned(), Value::Size(Bytes(size)));
        lacks(&parameters)
    }

    #[test]
    fn what_every_linux_has_is_not_lacking() {
        assert_eq!(lack([], 64), None);
        assert_eq!(
            lack([("method", "send"), ("receiver_method", "blocking")], 64),
            None
        );
    }

    #[test]
    fn frames_are_refused_where_there_is_no_interface_for_them() {
        for method in ["tx_ring", "af_xdp"] {
            let lack = lack([("method", method)], 64).unwrap();
            assert_eq!(lack.parameter, "method");
            assert!(lack.remedy.unwrap().contains("veth"));
        }
    }

    #[test]
    fn what_is_out_of_range_names_its_parameter_and_the_range() {
        let lack = lack([], 65_508).unwrap();
        assert_eq!(lack.parameter, "packet_size");
        assert!(lack.reason.contains("0 to 65507"), "{}", lack.reason);
    }

    #[test]
    fn what_goes_whole_has_to_fit_a_pair() {
        let over_a_pair = |size| lack([("method", "gso"), ("endpoints", "veth")], size);
        if over_a_pair(1472).is_some() {
            eprintln!("skipped: no pair can be had here");
            return;
        }
        assert_eq!(over_a_pair(1473).unwrap().parameter, "packet_size");
    }
}
