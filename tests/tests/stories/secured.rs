//! A broker with TLS, and clients of it that are not ours: `openssl` and Python.

use std::path::PathBuf;
use std::process::Stdio;

use bub::{Bus, ClientInfo, TlsFiles};
use switchboard_certs::{Authority, Issued};
use switchboard_model::AgentId;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::board::{Board, PATIENCE};

/// Settings that turn TLS on, and those that make clients show a certificate.
pub(crate) const TLS: &str = "[tls]\ncert = 'tls/server.pem'\nkey = 'tls/server-key.pem'\n";
pub(crate) const CLIENTS: &str = "client_ca = 'tls/ca.pem'\ncrl = 'tls/crl.pem'\n";

/// Asks for a page by HTTPS: address, path, authority, certificate and key (or -), then headers. Prints the
/// status and the page, or `refused` with the reason.
const ASK: &str = r#"
import http.client, ssl, sys
address, path, ca, cert, key, *headers = sys.argv[1:]
context = ssl.create_default_context(cafile=ca)
if cert != "-":
    context.load_cert_chain(cert, key)
try:
    connection = http.client.HTTPSConnection(address, context=context, timeout=20)
    connection.request("GET", path, headers=dict(zip(headers[::2], headers[1::2])))
    response = connection.getresponse()
    print(response.status, response.read().decode())
except (ssl.SSLError, ConnectionError) as error:
    print("refused", error)
"#;

/// Opens a WebSocket and a connection by HTTP: port, authority, certificate, key. Prints `open` when both are, and
/// `cut` when both have ended.
const STAY: &str = r#"
import socket, ssl, sys
port, ca, cert, key = sys.argv[1:]
context = ssl.create_default_context(cafile=ca)
context.load_cert_chain(cert, key)

def ask(head):
    socket_ = socket.create_connection(("127.0.0.1", int(port)), timeout=20)
    secured = context.wrap_socket(socket_, server_hostname="localhost")
    secured.sendall((head + "Host: localhost\r\n\r\n").encode())
    return secured, secured.recv(4096).split()[1]

upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
web, status = ask("GET / HTTP/1.1\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + upgrade)
assert status == b"101", status
page, status = ask("GET /healthz HTTP/1.1\r\n")
assert status == b"200", status
print("open", flush=True)
assert web.recv(4096) == b"" and page.recv(4096) == b""
print("cut", flush=True)
"#;

pub(crate) struct Secured {
    pub(crate) board: Board,
    pub(crate) authority: Authority,
}

impl Secured {
    /// With these settings after the part about TLS.
    pub(crate) async fn start(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::open_or_make(&folder.path().join("tls")).unwrap();
        authority.issue_server(&["box.example.org".to_owned()], 30).unwrap();
        let board = Board::reopen(folder, &format!("{TLS}{settings}")).await;
        Self { board, authority }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.authority.dir().join(name)
    }

    /// Our own client, with a certificate or without one.
    pub(crate) async fn join(&self, id: &str, issued: Option<&Issued>) -> Result<Bus, bub::Error> {
        let files = TlsFiles {
            trusted: vec![self.file("ca.pem")],
            cert: issued.map(|issued| self.file(issued.file.as_deref().unwrap())),
            key: issued.map(|issued| self.file(issued.key_file.as_deref().unwrap())),
        };
        let id = AgentId::parse(id).unwrap();
        let info = ClientInfo::new("story", "1");
        Bus::connect_with(self.board.url(), &id, info, None, &files).await
    }

    /// Python asks for `/healthz` with these headers.
    pub(crate) async fn ask(&self, issued: Option<&Issued>, headers: &[&str]) -> String {
        let files = match issued {
            Some(Issued { file: Some(file), key_file: Some(key), .. }) => {
                [file, key].map(|name| self.file(name).display().to_string())
            }
            _ => ["-".to_owned(), "-".to_owned()],
        };
        let ca = self.file("ca.pem").display().to_string();
        let mut words = vec![self.board.address(), "/healthz", &ca, &files[0], &files[1]];
        words.extend(headers);
        python(&words).await
    }

    /// Python holds a WebSocket and a connection by HTTP open; its words line by line.
    pub(crate) fn stay(&self, issued: &Issued) -> (Child, Lines<BufReader<ChildStdout>>) {
        let port = self.board.address().rsplit_once(':').unwrap().1;
        let file = |name: &Option<String>| self.file(name.as_deref().unwrap());
        let mut child = Command::new("python3")
            .args(["-c", STAY, port])
            .args([self.file("ca.pem"), file(&issued.file), file(&issued.key_file)])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        (child, lines)
    }

    /// `openssl s_client` with these arguments, which asks for `/healthz`.
    pub(crate) async fn s_client(&self, arguments: &str) -> String {
        let ca = self.file("ca.pem");
        let line = format!(
            "printf 'GET /healthz HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' | \
             openssl s_client -connect {} -CAfile {} -verify_return_error -ign_eof {arguments} 2>&1",
            self.board.address(),
            ca.display()
        );
        output(Command::new("sh").args(["-c", &line])).await
    }
}

pub(crate) async fn python(arguments: &[&str]) -> String {
    output(Command::new("python3").args(["-c", ASK]).args(arguments)).await
}

async fn output(command: &mut Command) -> String {
    let output = tokio::time::timeout(PATIENCE, command.kill_on_drop(true).output()).await;
    let output = output.expect("it did not end").unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
