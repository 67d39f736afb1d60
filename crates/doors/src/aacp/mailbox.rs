//! Reading a mailbox, and saying what became of a message.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, Path, RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use switchboard_broker::Link;
use switchboard_model::{AgentId, Command, Mail, MailPage, MailStatus, Mark, MessageId, Reply};
use tokio::time::{Instant, timeout_at};

use super::convert::{self, Fault};
use super::server::{Counter, json, no_token, parse, token, unexpected};
use super::wire::{MessagePage, MessageView, NewStatus, Outcome, PageQuery, Problem};
use crate::listener::Seat;

const USUAL_PAGE: u32 = 50;
const LARGEST_PAGE: u32 = 100;
const FARTHEST: u32 = 1_000_000_000;
/// The longest that a request waits for something new.
const LONGEST_WAIT: f64 = 60.0;
/// The longest words about a failure.
const DETAIL: usize = 2000;

/// An agent's messages, newest first. Reading marks them delivered.
#[utoipa::path(
    get, path = "/api/v1/protocol/messages/{agent_id}",
    params(
        ("agent_id" = String, Path, description = "The agent that reads; its own id."),
        PageQuery
    ),
    responses(
        (status = 200, description = "The messages.", body = MessagePage),
        (status = 401, description = "No token, or not a good one.", body = Problem),
        (status = 403, description = "They are another agent's.", body = Problem),
        (status = 404, description = "The agent is unknown.", body = Problem),
        (status = 422, description = "A parameter is wrong.", body = Problem),
        (status = 500, description = "A fault of the broker's.", body = Problem),
        (status = 503, description = "The broker is stopping.", body = Problem)
    )
)]
pub(super) async fn get_messages(
    State(counter): State<Arc<Counter>>,
    Extension(seat): Extension<Seat>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let token = token(&headers)?;
    let claimed = convert::agent_id("agent_id", &id);
    let (mut link, agent) = match &token {
        Some(_) => counter.visit(&seat, None, token.clone()).await?,
        None => {
            counter
                .visit(&seat, Some(claimed.as_ref().map_err(|_| no_token())?.clone()), None)
                .await?
        }
    };
    must_be_own(&counter, &claimed?, &agent).await?;
    let query = read_query(query.as_deref().unwrap_or_default())?;
    if let Some(wait) = query.wait.filter(|wait| *wait > 0.0) {
        wait_for_mail(&counter, &agent, Duration::from_secs_f64(wait)).await?;
        // What was allowed when the wait began may not be now.
        link = counter.visit(&seat, Some(agent.clone()), token).await?.0;
    }
    let page = read_page(&counter, &link, &agent, &query).await?;
    let messages = page.mail.iter().filter_map(convert::view).collect();
    Ok(json(StatusCode::OK, &MessagePage { messages, total: page.total }))
}

/// Says what became of a message.
#[utoipa::path(
    post, path = "/api/v1/protocol/messages/{message_id}/status",
    params(("message_id" = String, Path, description = "The message's id.")),
    request_body = NewStatus,
    responses(
        (status = 200, description = "The message as it is now.", body = MessageView),
        (status = 400, description = "This is not JSON.", body = Problem),
        (status = 401, description = "No token, or not a good one.", body = Problem),
        (status = 404, description = "There is no such message among this agent's.", body = Problem),
        (status = 409, description = "Something else was said of it before.", body = Problem),
        (status = 413, description = "The body is too large.", body = Problem),
        (status = 415, description = "The body is not said to be JSON.", body = Problem),
        (status = 422, description = "The body has another shape than it must have.", body = Problem),
        (status = 500, description = "A fault of the broker's.", body = Problem),
        (status = 503, description = "The broker is stopping.", body = Problem)
    )
)]
pub(super) async fn set_status(
    State(counter): State<Arc<Counter>>,
    Extension(seat): Extension<Seat>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Fault> {
    let token = token(request.headers())?;
    let receiver = match (&token, read_id(&id)) {
        (None, Some(id)) => counter.entrance.broker.receiver_of(id).await?,
        (Some(_), _) | (None, None) => None,
    };
    let (link, agent) = counter.visit(&seat, receiver, token).await?;
    let body = counter.body(request).await?;
    let new: NewStatus = parse(&body)?;
    if new.detail.as_ref().is_some_and(|words| words.len() > DETAIL) {
        return Err(Fault::misshapen(format!("detail has at most {DETAIL} bytes")));
    }
    let unknown = || Fault::new(StatusCode::NOT_FOUND, format!("{agent} has no message {id}"));
    let id = read_id(&id).ok_or_else(unknown)?;
    let broker = &counter.entrance.broker;
    let mail = broker.mail(&agent, id).await?.ok_or_else(unknown)?;
    let (failed, wanted) = match new.status {
        Outcome::Processed => (false, MailStatus::Processed),
        Outcome::Failed => (true, MailStatus::Failed),
    };
    match mail.status {
        MailStatus::Pending | MailStatus::Delivered => {
            let message = mail.message.seq;
            let mark = Mark { message, failed, words: new.detail };
            link.submit(Command::Mark(mark)).await?;
        }
        status if status == wanted => {}
        status => {
            let words = format!("the message is {} already", status.as_str());
            return Err(Fault::new(StatusCode::CONFLICT, words));
        }
    }
    let mail = broker.mail(&agent, id).await?.ok_or_else(unknown)?;
    let view: MessageView = convert::view(&mail).ok_or_else(unknown)?;
    Ok(json(StatusCode::OK, &view))
}

fn read_id(text: &str) -> Option<MessageId> {
    uuid::Uuid::parse_str(text).ok().map(MessageId)
}

/// Agents read only their own messages.
async fn must_be_own(counter: &Counter, name: &AgentId, agent: &AgentId) -> Result<(), Fault> {
    if convert::is_name_of(name, agent) {
        return Ok(());
    }
    match counter.entrance.broker.resolve(name.clone()).await? {
        Some(_) => {
            let words = format!("this token is {agent}'s, and {name}'s messages are its own");
            Err(Fault::new(StatusCode::FORBIDDEN, words))
        }
        None => Err(Fault::new(StatusCode::NOT_FOUND, format!("there is no agent {name}"))),
    }
}

pub(super) fn read_query(text: &str) -> Result<PageQuery, Fault> {
    let uri = axum::http::Uri::builder().path_and_query(format!("/?{text}")).build();
    let uri = uri.map_err(|error| Fault::misshapen(error.to_string()))?;
    let query = axum::extract::Query::<PageQuery>::try_from_uri(&uri);
    let axum::extract::Query(query) = query.map_err(|error| Fault::misshapen(error.body_text()))?;
    let within = |name: &str, given: Option<u32>, least: u32, most: u32| match given {
        Some(given) if !(least..=most).contains(&given) => {
            Err(Fault::misshapen(format!("{name} is {given}: give {least} to {most}")))
        }
        Some(_) | None => Ok(()),
    };
    within("limit", query.limit, 1, LARGEST_PAGE)?;
    within("offset", query.offset, 0, FARTHEST)?;
    if query.wait.is_some_and(|wait| !(0.0..=LONGEST_WAIT).contains(&wait)) {
        return Err(Fault::misshapen(format!("wait: give 0 to {LONGEST_WAIT} seconds")));
    }
    Ok(query)
}

/// Waits until there is something that has not been fetched, or the time is over.
async fn wait_for_mail(counter: &Counter, agent: &AgentId, wait: Duration) -> Result<(), Fault> {
    let broker = &counter.entrance.broker;
    let until = Instant::now() + wait;
    let mut bell = broker.bell(agent.clone()).await?;
    while broker.unread_mail(agent, 1).await?.is_empty() {
        let rung = tokio::select! {
            rung = timeout_at(until, bell.changed()) => rung,
            () = counter.entrance.closing.cancelled() => break,
        };
        if !matches!(rung, Ok(Ok(()))) {
            break;
        }
    }
    Ok(())
}

/// Reads a page and marks what is new on it as delivered, before it is shown.
async fn read_page(
    counter: &Counter,
    link: &Link,
    agent: &AgentId,
    query: &PageQuery,
) -> Result<MailPage, Fault> {
    let (limit, offset) = (query.limit.unwrap_or(USUAL_PAGE), query.offset.unwrap_or(0));
    let status = query.status.map(convert::status);
    let mut page = counter.entrance.broker.mail_page(agent, status, limit, offset).await?;
    let is_new = |mail: &Mail| mail.status == MailStatus::Pending;
    let new: Vec<u64> =
        page.mail.iter().filter(|mail| is_new(mail)).map(|mail| mail.message.seq).collect();
    if new.is_empty() {
        return Ok(page);
    }
    let kept_back = link.submit(Command::Collect(new)).await.map(Reply::kept_back)?;
    let kept_back = kept_back.ok_or_else(unexpected)?;
    let before = page.mail.len();
    page.mail.retain(|mail| !kept_back.contains(&mail.message.seq));
    page.total = page.total.saturating_sub((before - page.mail.len()) as u64);
    for mail in page.mail.iter_mut().filter(|mail| is_new(mail)) {
        mail.status = MailStatus::Delivered;
    }
    Ok(page)
}
