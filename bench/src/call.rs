//! Calls by HTTP that the bench itself makes: what an operator asks, and how agents of other doors register. Not the
//! load; that is the generator's.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Outcome;
use crate::peers::Server;

/// Asks the console something.
pub(crate) async fn console(server: &Server, method: &str, params: Value) -> Outcome<Value> {
    let call = json!({ "method": method, "params": params });
    post(server.address, "/console/call", &admin_token(&server.folder)?, &call).await
}

/// The operator's token for a data folder.
pub(crate) fn admin_token(folder: &Path) -> Outcome<String> {
    Ok(std::fs::read_to_string(folder.join("admin-token"))?.trim().to_owned())
}

/// Makes an agent known that offers what is asked for here; its token.
pub(crate) async fn register(server: &Server, agent: &str) -> Outcome<String> {
    let capability = json!({ "name": "bench_request", "description": "", "input_schema": {}, "output_schema": {} });
    let message = json!({
        "sender_id": agent, "receiver_id": "global_lobby", "message_type": "REGISTER", "auth_token": null,
        "payload": { "capabilities": [capability] },
    });
    let ack = post(server.address, "/api/register", "", &message).await?;
    let token = ack.pointer("/payload/auth_token").and_then(Value::as_str);
    Ok(token.ok_or_else(|| format!("{agent} got no token: {ack}"))?.to_owned())
}

async fn post(address: SocketAddr, path: &str, token: &str, body: &Value) -> Outcome<Value> {
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    let (head, body) = response.split_once("\r\n\r\n").ok_or("a response without a head")?;
    if !head.starts_with("HTTP/1.1 2") {
        return Err(format!("{path} is refused: {response}").into());
    }
    Ok(serde_json::from_str(body)?)
}
