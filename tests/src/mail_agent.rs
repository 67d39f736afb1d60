//! An agent that only makes requests over HTTP, and anybody's requests.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::{Broker, PATIENCE};

/// An answer over HTTP.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    head: String,
    body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// One request to `127.0.0.1:PORT`, with a token if there is one.
pub async fn request(
    address: &str,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: &str,
) -> Answer {
    let bearer = token.map(|token| format!("authorization: Bearer {token}\r\n"));
    request_with(address, method, path, &bearer.unwrap_or_default(), body).await
}

/// The same with these lines in its head.
pub async fn request_with(
    address: &str,
    method: &str,
    path: &str,
    lines: &str,
    body: &str,
) -> Answer {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n{lines}\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let asking = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let answer = tokio::time::timeout(PATIENCE, asking).await.expect("no answer");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// One connection for many requests, one after the other.
pub struct KeptOpen {
    stream: BufReader<TcpStream>,
    address: String,
}

impl KeptOpen {
    pub async fn open(address: &str) -> Self {
        let stream = BufReader::new(TcpStream::connect(address).await.unwrap());
        Self { stream, address: address.to_owned() }
    }

    /// Posts a message and reads the answer, no more.
    pub async fn post(&mut self, token: &str, message: &Value) -> Answer {
        let (address, body) = (&self.address, message.to_string());
        let request = format!(
            "POST /api/v1/protocol/messages HTTP/1.1\r\nhost: {address}\r\n\
             content-type: application/json\r\nauthorization: Bearer {token}\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let asking = async {
            self.stream.get_mut().write_all(request.as_bytes()).await.unwrap();
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert!(self.stream.read_line(&mut head).await.unwrap() > 0, "closed: {head}");
            }
            let status = head.split(' ').nth(1).unwrap().parse().unwrap();
            let mut answer = Answer { status, head, body: String::new() };
            let length = answer.header("content-length").unwrap().trim().parse().unwrap();
            let mut body = vec![0; length];
            self.stream.read_exact(&mut body).await.unwrap();
            answer.body = String::from_utf8(body).unwrap();
            answer
        };
        tokio::time::timeout(PATIENCE, asking).await.expect("no answer")
    }
}

/// An agent with a mailbox.
pub struct MailAgent {
    pub id: String,
    pub token: String,
    address: String,
}

impl MailAgent {
    /// Gets its token from the operator.
    pub async fn issued(broker: &impl Broker, id: &str) -> Self {
        let issued = broker.call("issueToken", json!({ "agent": id })).await;
        let token = issued["token"].as_str().unwrap();
        Self::with(broker.address(), id, token)
    }

    pub fn with(address: &str, id: &str, token: &str) -> Self {
        let (id, token, address) = (id.to_owned(), token.to_owned(), address.to_owned());
        Self { id, token, address }
    }

    pub async fn ask(&self, method: &str, path: &str, body: &Value) -> Answer {
        let path = format!("/api/v1/protocol{path}");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        request(&self.address, method, &path, Some(&self.token), &body).await
    }

    /// Sends a message that must be accepted.
    pub async fn send(&self, to: &str, kind: &str, content: Value, key: Option<&str>) -> Value {
        let mut message = json!({
            "sender_agent_id": self.id, "receiver_agent_id": to, "message_type": kind,
            "content": content,
        });
        if let Some(key) = key {
            message["correlation_id"] = key.into();
        }
        let answer = self.ask("POST", "/messages", &message).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()
    }

    /// Its mailbox, newest first.
    pub async fn mail(&self, query: &str) -> Vec<Value> {
        let path = format!("/messages/{}{query}", self.id);
        let answer = self.ask("GET", &path, &Value::Null).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["messages"].as_array().unwrap().clone()
    }

    pub async fn mark(&self, message: &Value, status: &str) -> Answer {
        let path = format!("/messages/{}/status", message["id"].as_str().unwrap());
        self.ask("POST", &path, &json!({ "status": status })).await
    }
}
