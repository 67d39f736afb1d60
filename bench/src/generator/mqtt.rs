//! MQTT 3.1.1 with acknowledgements (QoS 1): the broker acknowledges a publisher, a subscriber the broker.

use super::protocol::{Heard, Joined, Joining, Opening, Protocol, What, number_within};
use super::question;
use super::template::Template;
use crate::Outcome;

const CONNECT: u8 = 0x10;
const PUBLISH_QOS_1: u8 = 0x32;
const PUBACK: u8 = 0x40;
const SUBSCRIBE: u8 = 0x82;
const CONNACK: [u8; 2] = [0x20, 2];
const SUBACK: [u8; 2] = [0x90, 3];

struct Mqtt {
    topic: Vec<u8>,
    question: Template,
}

pub(super) fn join(joining: &Joining) -> Joined {
    let mut connect = string("MQTT");
    // Version 4, a clean session, kept alive without pings for longer than any measurement.
    connect.extend([4, 2, 0x0e, 0x10]);
    connect.extend(string(&joining.name));
    let mut opening = vec![Opening::new(packet(CONNECT, &connect), CONNACK)];
    for topic in &joining.listens {
        let mut subscribe = vec![0, 1];
        subscribe.extend(string(topic));
        subscribe.push(1);
        opening.push(Opening::new(packet(SUBSCRIBE, &subscribe), SUBACK));
    }
    let topic = string(joining.asks.as_deref().unwrap_or_default());
    Joined { protocol: Box::new(Mqtt { topic, question: Template::new(&question()) }), opening }
}

impl Protocol for Mqtt {
    fn hear<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<u8>) -> Outcome<Option<Heard<'a>>> {
        let Some((head, length)) = head(bytes)? else {
            return Ok(None);
        };
        let Some(content) = bytes.get(head..head + length) else {
            return Ok(None);
        };
        let what = if bytes[0] & 0xf0 == PUBLISH_QOS_1 & 0xf0 {
            let [high, low, rest @ ..] = content else {
                return Err("a publish without a topic".into());
            };
            let topic = usize::from(u16::from_be_bytes([*high, *low]));
            let packet_id = rest.get(topic..topic + 2).ok_or("a publish without an id")?;
            out.extend_from_slice(&[PUBACK, 2]);
            out.extend_from_slice(packet_id);
            number_within(rest).map_or(What::Refusal(content), What::Arrived)
        } else {
            What::Nothing
        };
        Ok(Some(Heard { length: head + length, what }))
    }

    fn ask(&mut self, id: u64, out: &mut Vec<u8>) {
        out.push(PUBLISH_QOS_1);
        push_length(out, self.topic.len() + 2 + self.question.length(id));
        out.extend_from_slice(&self.topic);
        // Zero is no packet's id.
        let packet_id = (id % 65_535) as u16 + 1;
        out.extend_from_slice(&packet_id.to_be_bytes());
        self.question.push(id, out);
    }

    /// What arrives is acknowledged, not answered.
    fn answer(&mut self, _call: &[u8], _out: &mut Vec<u8>) {}
}

fn string(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as u16).to_be_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn packet(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    push_length(&mut bytes, content.len());
    bytes.extend_from_slice(content);
    bytes
}

/// Seven bits a byte, the lowest first.
fn push_length(out: &mut Vec<u8>, length: usize) {
    let mut left = length;
    loop {
        let low = (left % 128) as u8;
        left /= 128;
        out.push(if left > 0 { low | 0x80 } else { low });
        if left == 0 {
            break;
        }
    }
}

/// How many bytes come before the content, and how many it has; none if that has not come yet.
fn head(bytes: &[u8]) -> Outcome<Option<(usize, usize)>> {
    let mut length = 0;
    for at in 1..5 {
        let Some(byte) = bytes.get(at) else {
            return Ok(None);
        };
        length |= usize::from(byte & 0x7f) << (7 * (at - 1));
        if byte & 0x80 == 0 {
            return Ok(Some((at + 1, length)));
        }
    }
    Err("a length of more than four bytes".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_and_read_back() {
        for length in [0, 1, 127, 128, 16_383, 16_384, 268_435_455] {
            let mut bytes = vec![PUBLISH_QOS_1];
            push_length(&mut bytes, length);
            assert_eq!(head(&bytes[..bytes.len() - 1]).unwrap(), None);
            assert_eq!(head(&bytes).unwrap(), Some((bytes.len(), length)));
        }
        assert!(head(&[0x30, 0xff, 0xff, 0xff, 0xff, 1]).is_err());
    }
}
