//! The names of this machine, and which names a certificate can carry.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr};

use crate::Error;

/// The longest name that a subject can have.
const LONGEST: usize = 64;

/// By what this machine is called: itself, its host name, the addresses of its interfaces.
pub(crate) fn own_names() -> Vec<String> {
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy().to_ascii_lowercase();
    names.extend(Some(host).filter(|host| server_name(host).is_ok()));
    let addresses: BTreeSet<IpAddr> = if_addrs::get_if_addrs()
        .unwrap_or_default()
        .iter()
        .map(if_addrs::Interface::ip)
        .filter(|ip| !ip.is_loopback() && !is_link_local(*ip))
        .collect();
    names.extend(addresses.iter().map(IpAddr::to_string));
    names
}

/// An address that means something only together with an interface.
fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(ip) => Ipv6Addr::is_unicast_link_local(&ip),
    }
}

/// A host name, with a star for its first label or not, or an address.
pub(crate) fn server_name(name: &str) -> Result<(), Error> {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let host = name.strip_prefix("*.").unwrap_or(name);
    if name.parse::<IpAddr>().is_ok() || (host.len() <= 253 && host.split('.').all(label)) {
        return Ok(());
    }
    let reason = "give a host name or an address, without a scheme and without a port";
    Err(Error::BadName { name: name.to_owned(), reason })
}

/// The name of a client, which names its files too.
pub(crate) fn client_name(name: &str) -> Result<(), Error> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    if !name.is_empty()
        && name.len() <= LONGEST
        && name.chars().all(fits)
        && !name.starts_with(['.', '-'])
    {
        return Ok(());
    }
    let reason = "give 1 to 64 letters, digits, and - _ . @, beginning with a letter or a digit";
    Err(Error::BadName { name: name.to_owned(), reason })
}
