//! Requests that say exactly what they are told to, from any address of this machine.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};

use switchboard_tests::PATIENCE;

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A connection that is kept as long as the other side keeps it.
pub(crate) struct Line {
    address: String,
    stream: Option<BufReader<TcpStream>>,
}

impl Line {
    pub(crate) fn to(address: &str) -> Self {
        Self { address: address.to_owned(), stream: None }
    }

    /// Sends a head, without the empty line at its end, and a body.
    pub(crate) async fn ask(&mut self, head: &str, body: &str) -> Answer {
        let asking = async {
            // One that was kept may have been closed meanwhile.
            if let Some(stream) = self.stream.take()
                && let Some(answer) = self.try_ask(stream, head, body).await
            {
                return answer;
            }
            let stream = BufReader::new(TcpStream::connect(&self.address).await.unwrap());
            self.try_ask(stream, head, body).await.expect("it closed without an answer")
        };
        tokio::time::timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("no answer: {head}"))
    }

    async fn try_ask(
        &mut self,
        mut stream: BufReader<TcpStream>,
        head: &str,
        body: &str,
    ) -> Option<Answer> {
        let text = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.get_mut().write_all(text.as_bytes()).await.ok()?;
        let no_body = head.starts_with("HEAD ");
        let answer = read(&mut stream, no_body).await?;
        let says = |words: &str| answer.head.to_ascii_lowercase().contains(words);
        if answer.status != 101 && !says("connection: close") {
            self.stream = Some(stream);
        }
        Some(answer)
    }
}

async fn read(stream: &mut BufReader<TcpStream>, no_body: bool) -> Option<Answer> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let status: u16 = head.split(' ').nth(1)?.parse().ok()?;
    let lower = head.to_ascii_lowercase();
    let value =
        |name: &str| Some(lower.split_once(&format!("\r\n{name}: "))?.1.split_once("\r\n")?.0);
    let mut body = Vec::new();
    if let Some(length) = value("content-length").filter(|_| !no_body) {
        body.resize(length.parse().ok()?, 0);
        stream.read_exact(&mut body).await.ok()?;
    } else if !no_body && value("transfer-encoding") == Some("chunked") {
        loop {
            let mut size = String::new();
            stream.read_line(&mut size).await.ok()?;
            let mut chunk = vec![0; usize::from_str_radix(size.trim(), 16).ok()? + 2];
            stream.read_exact(&mut chunk).await.ok()?;
            chunk.truncate(chunk.len() - 2);
            if chunk.is_empty() {
                break;
            }
            body.append(&mut chunk);
        }
    }
    Some(Answer { status, head, body: String::from_utf8_lossy(&body).into_owned() })
}

/// The loopback addresses of this machine, one after the other. Wrong tokens lock a name from an address; every case
/// comes from an address of its own, so that none meets the lock of another.
pub(crate) struct Addresses(u32);

impl Addresses {
    pub(crate) fn new() -> Self {
        Self(0x7f01_0000)
    }

    fn next(&mut self) -> Ipv4Addr {
        self.0 += 1;
        Ipv4Addr::from(self.0)
    }

    /// A connection to `127.0.0.1:PORT` from the next of them.
    pub(crate) async fn connect(&mut self, address: &str) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((self.next(), 0))).unwrap();
        socket.connect(address.parse().unwrap()).await.unwrap()
    }

    /// One request from the next of them, with these lines in its head.
    pub(crate) async fn request(
        &mut self,
        address: &str,
        method: &str,
        path: &str,
        lines: &str,
        body: &str,
    ) -> Answer {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json{lines}"
        );
        let stream = BufReader::new(self.connect(address).await);
        let mut line = Line::to(address);
        let asking = line.try_ask(stream, &head, body);
        let answer = tokio::time::timeout(PATIENCE, asking).await.expect("no answer");
        answer.unwrap_or_else(|| panic!("it closed without an answer: {head}"))
    }
}
