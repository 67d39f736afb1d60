//! The console's live feed, taken and not looked at.

use super::protocol::{Heard, Joined, Joining, Opening, Protocol, What};
use crate::{Outcome, websocket};

struct Feed;

pub(super) fn join(joining: &Joining) -> Joined {
    let Joining { host, token, .. } = joining;
    let head = format!("Sec-WebSocket-Protocol: switchboard, token.{token}\r\n");
    let mut watch = Vec::new();
    websocket::push_text(&mut watch, websocket::End::Client, b"{}");
    let opening = vec![
        Opening::upgrade(websocket::upgrade(host, "/console/feed", &head)),
        Opening { times: 0, ..Opening::new(watch, "") },
    ];
    Joined { protocol: Box::new(Feed), opening }
}

impl Protocol for Feed {
    fn hear<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<u8>) -> Outcome<Option<Heard<'a>>> {
        let frame = websocket::read(bytes, out)?;
        Ok(frame.map(|frame| Heard { length: frame.length, what: What::Nothing }))
    }

    /// It only watches.
    fn ask(&mut self, _id: u64, _out: &mut Vec<u8>) {}

    fn answer(&mut self, _call: &[u8], _out: &mut Vec<u8>) {}
}
