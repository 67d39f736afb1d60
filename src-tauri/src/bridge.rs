//! The console API, carried into the window: one command, and one channel for the feed.
#![expect(
    clippy::let_underscore_must_use,
    reason = "what the command attribute generates throws a value away"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_console::Console;
use switchboard_console::api::{CallError, FeedEvent, Watch};
use tauri::ipc::{Channel, JavaScriptChannelId, Response};
use tauri::{State, Webview};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use crate::links::Wanted;

/// What the window's command needs: the console, the feed that each window follows, and the link that
/// the window is to open next.
pub(crate) struct Bridge {
    console: Console,
    feeds: Mutex<HashMap<String, AbortHandle>>,
    wanted: Arc<Wanted>,
}

/// What goes through the channel: the feed, and now and then a link to open.
#[derive(Serialize)]
#[serde(untagged)]
enum Told {
    Feed(Box<FeedEvent>),
    Asked(Asked),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Asked {
    /// Whatever it says: the page reads it, and is strict about it.
    Open { link: String },
}

/// The call that opens a feed. All others are the console's own.
#[derive(Deserialize)]
#[serde(tag = "method", content = "params", rename_all = "camelCase")]
enum Open {
    Watch(Watch),
}

/// Answers one call of the window. With a channel, opens a feed into it instead, in place of the
/// one this window followed before.
#[tauri::command]
pub(crate) async fn console(
    webview: Webview,
    bridge: State<'_, Bridge>,
    call: Value,
    feed: Option<JavaScriptChannelId>,
) -> Result<Response, CallError> {
    // A watch that cannot be read is refused by the console, like any other wrong call.
    match (feed, Open::deserialize(&call)) {
        (Some(feed), Ok(Open::Watch(watch))) => {
            bridge.follow(webview, watch, &feed);
            Ok(Response::new("{}".to_owned()))
        }
        _ => bridge.console.call(call).await.map(|reply| Response::new(reply.get().to_owned())),
    }
}

impl Bridge {
    pub(crate) fn new(console: Console) -> Self {
        Self { console, feeds: Mutex::default(), wanted: Arc::default() }
    }

    /// Has the window open a link, as soon as it is there to do so.
    pub(crate) fn open(&self, link: String) {
        self.wanted.put(link);
    }

    fn follow(&self, webview: Webview, watch: Watch, feed: &JavaScriptChannelId) {
        let window = webview.label().to_owned();
        let channel: Channel<Told> = feed.channel_on(webview.clone());
        let mut feed = self.console.watch(watch);
        let wanted = Arc::clone(&self.wanted);
        let following = tokio::spawn(async move {
            loop {
                let told = tokio::select! {
                    event = feed.next() => match event {
                        Some(event) => Told::Feed(Box::new(event)),
                        None => break,
                    },
                    link = wanted.next() => Told::Asked(Asked::Open { link }),
                };
                if channel.send(told).is_err() || !caught_up(&webview).await {
                    break;
                }
            }
        });
        let before = self
            .feeds
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(window, following.abort_handle());
        if let Some(before) = before {
            before.abort();
        }
    }
}

/// Waits until the page has taken what was sent to it. A channel into a page has no bound of its
/// own: without this, events would pile up before a page that is slow or asleep. Meanwhile the
/// feed gathers, and its next event tells all at once.
async fn caught_up(webview: &Webview) -> bool {
    let (took, taken) = oneshot::channel();
    let took = Mutex::new(Some(took));
    let asked = webview.eval_with_callback("0", move |_| {
        if let Some(took) = took.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // Nobody waits any more once another feed has taken this one's place.
            took.send(()).ok();
        }
    });
    asked.is_ok() && taken.await.is_ok()
}
