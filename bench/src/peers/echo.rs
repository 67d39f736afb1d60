//! The bare echo: the least an HTTP server of the same making must do to take a post and answer it.

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::post;
use tokio::net::TcpListener;

use super::Server;
use crate::Outcome;
use crate::lab::{Cores, Lab};
use crate::process::Process;

pub(crate) async fn start(lab: &Lab) -> Outcome<Server> {
    let mut process = Process::start(lab.role("echo", Cores::All))?;
    let address = process.line_after("listening on http://").await?.parse()?;
    Ok(Server { process, address, folder: lab.folder("echo")? })
}

/// Being that process.
pub(crate) async fn serve() -> Outcome<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    let echo = post(|body: Bytes| async move { (StatusCode::CREATED, body) });
    let router = Router::new().route("/api/v1/protocol/messages", echo);
    Ok(axum::serve(listener, router).await?)
}
