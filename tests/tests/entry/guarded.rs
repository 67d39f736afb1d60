//! A web page of another origin does not reach the broker, whatever the route, the name it uses and the token it
//! has. (A real page in a real Chromium tries the same in `ui/e2e`.)

use switchboard_tests::program::Program;
use switchboard_tests::{Broker, Proof, proof};

use crate::ask::{Answer, Line};
use crate::source::{self, Route};
use serde_json::json;

/// What the guard says, and nobody else.
const TURNED_AWAY: [&str; 4] = [
    "the Host header is missing",
    "the Host header names another machine",
    "Host or Origin was sent twice",
    "web pages of other origins",
];

/// A name or an origin, as lines of a head, and whether it is ours.
struct Claim {
    lines: String,
    ours: bool,
}

fn hosts(port: &str) -> Vec<Claim> {
    let ours = [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("LOCALHOST:{port}"),
        format!("[::1]:{port}"),
        "127.0.0.1".to_owned(),
    ];
    let others = [
        String::new(),
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1:0{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("localhost.:{port}"),
        format!("127.1:{port}"),
        format!("2130706433:{port}"),
        format!("0x7f000001:{port}"),
        format!("0177.0.0.1:{port}"),
        format!("0.0.0.0:{port}"),
        format!("[::]:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("127.0.0.2:{port}"),
        format!("evil.example@127.0.0.1:{port}"),
        format!("127.0.0.1:{port}@evil.example"),
        format!("127.0.0.1:{port},evil.example"),
        format!("127.0.0.1:{port} evil.example"),
    ];
    let line = |host: String, ours| Claim { lines: format!("\r\nHost: {host}"), ours };
    let mut all: Vec<_> = ours.into_iter().map(|host| line(host, true)).collect();
    all.extend(others.into_iter().map(|host| line(host, false)));
    let (good, bad) = (format!("127.0.0.1:{port}"), "evil.example");
    for lines in [
        String::new(),
        format!("\r\nHost: {good}\r\nHost: {bad}"),
        format!("\r\nHost: {bad}\r\nHost: {good}"),
    ] {
        all.push(Claim { lines, ours: false });
    }
    all
}

fn origins(port: &str) -> Vec<Claim> {
    let good = format!("http://127.0.0.1:{port}");
    let ours = [good.clone(), format!("http://localhost:{port}")];
    let others = [
        String::new(),
        "null".to_owned(),
        "file://".to_owned(),
        "http://evil.example".to_owned(),
        format!("http://evil.example:{port}"),
        format!("https://127.0.0.1:{port}"),
        format!("ws://127.0.0.1:{port}"),
        "http://127.0.0.1".to_owned(),
        "http://127.0.0.1:1".to_owned(),
        format!("http://127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}.evil.example"),
        format!("http://evil.example@127.0.0.1:{port}"),
        format!("http://localhost.evil.example:{port}"),
        format!("http://127.0.0.1:{port} http://evil.example"),
        format!("http://127.0.0.1:{port}, http://evil.example"),
        "chrome-extension://abcdefghijklmnop".to_owned(),
        "tauri://localhost".to_owned(),
        "http://tauri.localhost".to_owned(),
    ];
    let line = |origin: String, ours| Claim { lines: format!("\r\nOrigin: {origin}"), ours };
    let mut all = vec![Claim { lines: String::new(), ours: true }];
    all.extend(ours.into_iter().map(|origin| line(origin, true)));
    all.extend(others.into_iter().map(|origin| line(origin, false)));
    // What a browser says of a request for which it sends no Origin, as of a picture.
    for (site, shown_as) in
        [("cross-site", "image"), ("same-site", "empty"), ("cross-site", "script")]
    {
        let lines = format!("\r\nSec-Fetch-Site: {site}\r\nSec-Fetch-Dest: {shown_as}");
        all.push(Claim { lines, ours: false });
    }
    let twice = format!("\r\nOrigin: {good}\r\nOrigin: http://evil.example");
    all.push(Claim { lines: twice, ours: false });
    all
}

/// Tokens of every kind, as lines of a head and as part of an address.
async fn tokens(broker: &Program) -> Vec<(&'static str, String)> {
    let admin = std::fs::read_to_string(broker.data_dir().join("admin-token")).unwrap();
    let agent = broker.call("issueToken", json!({ "agent": "somebody" })).await;
    let scopes = json!({ "scopes": ["discover:read", "discover:write"] });
    let signed = broker.call("signJwt", scopes).await;
    let text = |value: &serde_json::Value| value["token"].as_str().unwrap().to_owned();
    vec![
        ("none", String::new()),
        ("the operator's", admin.trim().to_owned()),
        ("wrong", "0".repeat(64)),
        ("an agent's", text(&agent)),
        ("a signed one", text(&signed)),
    ]
}

struct Attempt<'a> {
    route: &'a Route,
    upgrade: bool,
    host: &'a Claim,
    origin: &'a Claim,
    token: &'a str,
}

impl Attempt<'_> {
    fn head(&self) -> String {
        let Self { route, upgrade, host, origin, token } = self;
        let path = route.path.replace("{*path}", "index.html");
        let path = path.replace("{id}", "somebody").replace("{agent_id}", "somebody");
        let query = if token.is_empty() { String::new() } else { format!("?token={token}") };
        let bearer = match token.is_empty() {
            true => String::new(),
            false => format!("\r\nAuthorization: Bearer {token}"),
        };
        let upgrade = match upgrade {
            false => String::new(),
            true => format!(
                "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                 Sec-WebSocket-Protocol: switchboard, agent-discovery, token.{token}"
            ),
        };
        let (host, origin, method) = (&host.lines, &origin.lines, route.method);
        format!("{method} {path}{query} HTTP/1.1{host}{origin}{bearer}{upgrade}")
    }

    /// Whoever is ours gets past the guard; nobody else does, and nobody learns from a browser's header that it may.
    fn judge(&self, answer: &Answer) -> Result<(), String> {
        let body_is_read = self.route.method != "HEAD";
        let by_guard = answer.status == 403
            && (!body_is_read || TURNED_AWAY.iter().any(|words| answer.body.starts_with(words)));
        // What is not even a head that HTTP knows is refused before the guard sees it.
        let by_http = answer.status == 400 && !self.host.ours;
        let told = answer.head.to_ascii_lowercase().contains("access-control-allow");
        let ours = self.host.ours && self.origin.ours;
        match (ours, by_guard || by_http) {
            _ if told => Err("it lets pages of other origins read answers".to_owned()),
            (false, false) => Err(format!("reached: {}", answer.status)),
            (true, true) if body_is_read => Err(format!("turned away: {}", answer.body)),
            (true, _) | (false, true) => Ok(()),
        }
    }
}

#[tokio::test]
async fn host_origin_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Program::start(folder.path()).await;
    let address = broker.address().to_owned();
    let port = address.rsplit_once(':').unwrap().1;
    let (hosts, origins, tokens) = (hosts(port), origins(port), tokens(&broker).await);
    let routes = source::routes();
    assert!(routes.len() > 30, "only {} routes were read from the sources", routes.len());
    let mut proof = Proof::new(
        13,
        "host-origin-matrix",
        "a web page of another origin, or one that uses another name, reaches no route, whatever its token",
    )
    .how(
        "every route and method that the sources add to a router × names × origins × tokens, with and without an \
         upgrade, over a real port; whoever is ours must get past",
    );
    let mut line = Line::to(&address);
    let mut hostile = 0_u64;
    for route in &routes {
        for upgrade in [false, true] {
            if upgrade && !(route.any && route.method == "GET") {
                continue;
            }
            for host in &hosts {
                for (at, origin) in origins.iter().enumerate() {
                    // At the smaller size a bad name meets some origins, and a bad origin some names.
                    if !proof::full() && !host.ours && at > 3 {
                        continue;
                    }
                    let tried = if proof::full() { tokens.len() } else { 2 };
                    for (kind, token) in &tokens[..tried] {
                        let attempt = Attempt { route, upgrade, host, origin, token };
                        let head = attempt.head();
                        let answer = line.ask(&head, "").await;
                        hostile += u64::from(!(host.ours && origin.ours));
                        proof.case(format!("{kind} token: {head:?}"), attempt.judge(&answer));
                    }
                }
            }
        }
    }
    let figure = format!(
        "{} of {hostile} hostile requests went wrong; {} routes, {} names, {} origins",
        proof.failed(),
        routes.len(),
        hosts.len(),
        origins.len()
    );
    proof.close(figure);
}

#[tokio::test]
async fn preflights_are_not_granted() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Program::start(folder.path()).await;
    let address = broker.address().to_owned();
    let mut proof = Proof::new(
        13,
        "preflights",
        "no route grants a page of another origin what it asks for first",
    )
    .how("OPTIONS as a browser sends it, from an origin that is ours and from one that is not");
    let mut line = Line::to(&address);
    for route in source::routes() {
        for origin in ["http://evil.example".to_owned(), format!("http://{address}")] {
            let head = format!(
                "OPTIONS {} HTTP/1.1\r\nHost: {address}\r\nOrigin: {origin}\r\n\
                 Access-Control-Request-Method: {}\r\nAccess-Control-Request-Headers: authorization",
                route.path.replace(['{', '}', '*'], ""),
                route.method
            );
            let answer = line.ask(&head, "").await;
            let granted = answer.head.to_ascii_lowercase().contains("access-control-allow");
            let fits = answer.status == 403 || origin.ends_with(&address);
            proof.check(format!("{head:?}: {}", answer.status), !granted && fits);
        }
    }
    let figure = format!("{} of {} granted", proof.failed(), proof.passed() + proof.failed());
    proof.close(figure);
}
