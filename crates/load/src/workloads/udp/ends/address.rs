//! From what a person calls a receiver to a control connection with it.

use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6, TcpStream, ToSocketAddrs};

use knobstat_sys::net::netlink::interface_index;

use super::{ANSWER, EndsError, PORT, system};

/// The control connection.
///
/// # Errors
/// When there is no such host, or nobody listens there.
pub(super) fn connect(receiver: &str) -> Result<TcpStream, EndsError> {
    let addresses = resolve(receiver)?;
    let mut last = None;
    for address in addresses {
        match TcpStream::connect_timeout(&address, ANSWER) {
            Ok(stream) => {
                stream
                    .set_nodelay(true)
                    .map_err(system("the control connection cannot be set up"))?;
                return Ok(stream);
            }
            Err(error) => last = Some(error),
        }
    }
    let error = last.unwrap_or_else(|| io::Error::from(io::ErrorKind::NotFound));
    Err(system(
        "the receiver cannot be reached (does `knobstat udp recv` run there?)",
    )(error))
}

/// The addresses of `HOST`, `HOST:PORT`, `[ADDRESS]:PORT`; IPv6 addresses may have a scope.
fn resolve(receiver: &str) -> Result<Vec<SocketAddr>, EndsError> {
    let unfit = || {
        EndsError::Request(format!(
            "{receiver:?} is no receiver; write HOST, HOST:PORT or [ADDRESS]:PORT"
        ))
    };
    let (host, port) = match receiver.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((host, ""))) => (host, PORT),
        Some(Some((host, port))) => {
            let port = port.strip_prefix(':').ok_or_else(unfit)?;
            (host, port.parse().map_err(|_| unfit())?)
        }
        Some(None) => return Err(unfit()),
        None if receiver.matches(':').count() > 1 => (receiver, PORT),
        None => match receiver.split_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| unfit())?),
            None => (receiver, PORT),
        },
    };
    if host.is_empty() || port == 0 {
        return Err(unfit());
    }
    if let Some((address, interface)) = host.split_once('%') {
        let IpAddr::V6(address) = address.parse().map_err(|_| unfit())? else {
            return Err(unfit());
        };
        let scope = match interface.parse() {
            Ok(index) => index,
            Err(_) => interface_index(interface)
                .map_err(system("there is no interface of the receiver's scope"))?,
        };
        let address = SocketAddrV6::new(address, port, 0, scope);
        return Ok(vec![SocketAddr::V6(address)]);
    }
    let found = (host, port)
        .to_socket_addrs()
        .map_err(system("the receiver's name cannot be resolved"))?;
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_is_a_host_with_or_without_a_port() {
        let resolved = |text: &str| resolve(text).unwrap()[0].to_string();
        assert_eq!(resolved("127.0.0.1"), format!("127.0.0.1:{PORT}"));
        assert_eq!(resolved("127.0.0.1:9"), "127.0.0.1:9");
        assert_eq!(resolved("[::1]:9"), "[::1]:9");
        assert_eq!(resolved("::1"), format!("[::1]:{PORT}"));
        assert_eq!(resolved("[fe80::1%1]:9"), "[fe80::1%1]:9");
        assert_eq!(resolved("fe80::1%lo"), format!("[fe80::1%1]:{PORT}"));
    }

    #[test]
    fn what_is_no_receiver_is_refused() {
        for text in [
            "",
            ":9",
            "host:port",
            "[::1",
            "[::1]9",
            "127.0.0.1:0",
            "127.0.0.1%lo:9",
        ] {
            assert!(resolve(text).is_err(), "{text:?}");
        }
    }
}
