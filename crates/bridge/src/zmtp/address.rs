//! Where to connect and where to listen: `tcp://127.0.0.1:5555` and `ipc:///run/av.sock`.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

use super::link::Stream;

/// An endpoint as ZeroMQ writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Ipc(PathBuf),
    /// An address and a port.
    Tcp(SocketAddr),
}

/// An endpoint that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Neither `tcp://` nor `ipc://`.
    #[error("`{0}` is no endpoint: expected `tcp://127.0.0.1:5555` or `ipc:///path/of/a/socket`")]
    Form(String),
    /// A host name that nobody knows.
    #[error("`{endpoint}` does not lead to an address: {text}")]
    Unknown {
        /// As it was given.
        endpoint: String,
        /// What the system said.
        text: String,
    },
    /// Another machine.
    #[error("`{0}` is not on this machine; code from outside is reached on loopback only, unless remote ones are allowed")]
    Remote(String),
}

impl Address {
    /// Reads an endpoint.
    ///
    /// # Errors
    /// When it has no known form or its host has no address.
    pub fn parse(endpoint: &str) -> Result<Self, AddressError> {
        if let Some(path) = endpoint.strip_prefix("ipc://").filter(|path| !path.is_empty()) {
            return Ok(Self::Ipc(PathBuf::from(path)));
        }
        let Some(host) = endpoint.strip_prefix("tcp://").filter(|host| host.contains(':')) else {
            return Err(AddressError::Form(endpoint.to_owned()));
        };
        let unknown = |text: String| AddressError::Unknown { endpoint: endpoint.to_owned(), text };
        let mut found = host.to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
        found.next().map(Self::Tcp).ok_or_else(|| unknown("the list of addresses is empty".to_owned()))
    }
    /// Whether it is on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Ipc(_) => true,
            Self::Tcp(address) => address.ip().is_loopback(),
        }
    }
    /// The same address if it is on this machine.
    ///
    /// # Errors
    /// When it is not.
    pub fn local(self) -> Result<Self, AddressError> {
        if self.is_local() { Ok(self) } else { Err(AddressError::Remote(self.to_string())) }
    }
    /// Connects, waiting no longer than the limit.
    ///
    /// # Errors
    /// When nobody listens there.
    pub fn connect(&self, limit: Duration) -> io::Result<Box<dyn Stream>> {
        match self {
            Self::Tcp(address) => {
                let stream = TcpStream::connect_timeout(address, limit)?;
                stream.set_nodelay(true)?;
                Ok(Box::new(stream))
            }
            #[cfg(unix)]
            Self::Ipc(path) => Ok(Box::new(UnixStream::connect(path)?)),
            #[cfg(not(unix))]
            Self::Ipc(_) => Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no sockets in the file system")),
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ipc(path) => write!(f, "ipc://{}", path.display()),
            Self::Tcp(address) => write!(f, "tcp://{address}"),
        }
    }
}

/// A socket that others connect to.
#[derive(Debug)]
pub enum Listener {
    /// In the file system.
    #[cfg(unix)]
    Ipc(UnixListener, PathBuf),
    /// On a port.
    Tcp(TcpListener),
}

impl Listener {
    /// Listens at a local address; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address is taken or is not on this machine.
    pub fn bind(address: &Address) -> io::Result<Self> {
        if !address.is_local() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, AddressError::Remote(address.to_string())));
        }
        match address {
            Address::Tcp(address) => TcpListener::bind(address).map(Self::Tcp),
            #[cfg(unix)]
            Address::Ipc(path) => UnixListener::bind(path).map(|listener| Self::Ipc(listener, path.clone())),
            #[cfg(not(unix))]
            Address::Ipc(_) => Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no sockets in the file system")),
        }
    }
    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not know.
    pub fn address(&self) -> io::Result<Address> {
        match self {
            #[cfg(unix)]
            Self::Ipc(_, path) => Ok(Address::Ipc(path.clone())),
            Self::Tcp(listener) => listener.local_addr().map(Address::Tcp),
        }
    }
    /// Waits for somebody who connects.
    ///
    /// # Errors
    /// When the listener fails.
    pub fn accept(&self) -> io::Result<Box<dyn Stream>> {
        match self {
            #[cfg(unix)]
            Self::Ipc(listener, _) => Ok(Box::new(listener.accept()?.0)),
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Box::new(stream))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_written_as_they_are_read() {
        for endpoint in ["tcp://127.0.0.1:5555", "tcp://[::1]:80", "ipc:///run/av.sock"] {
            let address = Address::parse(endpoint).unwrap();
            assert_eq!(address.to_string(), endpoint);
            assert!(address.local().is_ok());
        }
    }

    #[test]
    fn what_is_no_endpoint_says_what_would_be() {
        for endpoint in ["", "av.py", "tcp://", "tcp://nowhere", "udp://127.0.0.1:1", "ipc://"] {
            let error = Address::parse(endpoint).unwrap_err();
            assert!(error.to_string().contains("tcp://127.0.0.1:5555"), "{error}");
        }
    }

    #[test]
    fn nothing_listens_or_connects_beyond_loopback_unasked() {
        let everywhere = Address::parse("tcp://0.0.0.0:0").unwrap();
        assert_eq!(Listener::bind(&everywhere).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(everywhere.local(), Err(AddressError::Remote("tcp://0.0.0.0:0".to_owned())));
    }
}
