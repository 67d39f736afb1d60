//! The network interfaces of this machine.

use std::net::{IpAddr, SocketAddr};

use if_addrs::{IfAddr, Interface};

/// Every address of every interface that is up. None can be told where the system does not say.
pub(crate) fn up() -> Vec<Interface> {
    match if_addrs::get_if_addrs() {
        Ok(found) => found.into_iter().filter(Interface::is_oper_up).collect(),
        Err(error) => {
            tracing::warn!(%error, "cannot list the network interfaces");
            Vec::new()
        }
    }
}

/// The number the system has given to an interface, if it is up and has an address. Another
/// interface of the same name gets another number.
pub(crate) fn index_of(name: &str) -> Option<u32> {
    up().into_iter().find(|interface| interface.name == name)?.index
}

/// How many of the named interfaces are up.
pub(crate) fn count_up(names: &[String]) -> usize {
    let up = up();
    names.iter().filter(|name| up.iter().any(|interface| interface.name == **name)).count()
}

/// An interface may come up later, so a missing one is no error; but it may also be a slip of the
/// pen.
pub(crate) fn warn_of_missing(names: &[String]) {
    let here: Vec<String> = up().into_iter().map(|interface| interface.name).collect();
    for name in names.iter().filter(|name| !here.contains(name)) {
        let known = here.join(", ");
        tracing::warn!(interface = %name, %known, "no such interface now; waiting for it");
    }
}

/// Whether an address is this machine's own or a neighbour's, so that no router is needed.
pub(crate) fn is_near(address: SocketAddr, here: &[Interface]) -> bool {
    let ip = address.ip();
    if ip.is_loopback() {
        return true;
    }
    if ip.is_unspecified() || ip.is_multicast() {
        return false;
    }
    if let SocketAddr::V6(address) = address
        && address.ip().is_unicast_link_local()
    {
        // The same address may be a neighbour's on every link, so it is none without the link.
        return here.iter().any(|interface| interface.index == Some(address.scope_id()));
    }
    here.iter().any(|interface| shares_a_link(ip, &interface.addr))
}

fn shares_a_link(ip: IpAddr, ours: &IfAddr) -> bool {
    match (ip, ours) {
        (IpAddr::V4(ip), IfAddr::V4(ours)) => {
            let mask = u32::from(ours.netmask);
            ours.prefixlen > 0
                && Some(ip) != ours.broadcast
                && u32::from(ip) & mask == u32::from(ours.ip) & mask
        }
        (IpAddr::V6(ip), IfAddr::V6(ours)) => {
            let mask = u128::from(ours.netmask);
            ours.prefixlen > 0 && u128::from(ip) & mask == u128::from(ours.ip) & mask
        }
        (IpAddr::V4(_), IfAddr::V6(_)) | (IpAddr::V6(_), IfAddr::V4(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use if_addrs::{IfOperStatus, Ifv4Addr, Ifv6Addr};

    fn here() -> Vec<Interface> {
        let interface = |addr, index| Interface {
            name: "lan".into(),
            addr,
            index: Some(index),
            oper_status: IfOperStatus::Up,
            is_p2p: false,
            #[cfg(windows)]
            adapter_name: String::new(),
        };
        let lan = IfAddr::V4(Ifv4Addr {
            ip: [10, 1, 2, 3].into(),
            netmask: [255, 255, 255, 0].into(),
            prefixlen: 24,
            broadcast: Some([10, 1, 2, 255].into()),
        });
        let local = IfAddr::V6(Ifv6Addr {
            ip: "fe80::1".parse().unwrap(),
            netmask: "ffff:ffff:ffff:ffff::".parse().unwrap(),
            prefixlen: 64,
            broadcast: None,
        });
        vec![interface(lan, 7), interface(local, 7)]
    }

    #[test]
    fn only_this_machine_and_its_neighbours_are_near() {
        for near in ["127.0.0.1:80", "[::1]:80", "10.1.2.77:80", "[fe80::9%7]:80"] {
            assert!(is_near(near.parse().unwrap(), &here()), "{near}");
        }
        let far = [
            "10.1.3.1:80",
            "10.1.2.255:80",
            "169.254.169.254:80",
            "0.0.0.0:80",
            "224.0.0.251:80",
            "[fe80::9]:80",
            "[fe80::9%8]:80",
            "[2001:db8::1]:80",
        ];
        for far in far {
            assert!(!is_near(far.parse().unwrap(), &here()), "{far}");
        }
    }
}
