//! What is no message, or a strange one: at every door it has a definite answer, the connection goes on where it can,
//! and what may be said is handed over to the letter.

mod house;

use serde_json::json;
use switchboard_tests::{Broker, Proof, eventually};

use crate::doors::{DOORS, Door, http_answer};
use crate::limits::start;
use crate::raw::{BINARY, CLOSE, CONTINUATION, Heard, PING, Raw, TEXT, frame, head_of_frame};
use house::{ENTRANCES, House};

fn nested(open: &str, close: &str, depth: usize) -> String {
    format!("{}1{}", open.repeat(depth), close.repeat(depth))
}

#[tokio::test]
async fn shapes() {
    let mut proof = Proof::new(11, "shapes", "Nonsense and strange JSON have a definite answer at every door")
        .how("deep nesting, huge numbers, duplicate keys, broken UTF-8, control characters and frames that break WebSocket's rules");
    let folder = tempfile::tempdir().unwrap();
    let broker = start(
        folder.path(),
        "[aacp]\nrate_per_second = 1000\nburst = 1000\n[discovery]\nmdns = false\n",
    )
    .await;
    let mut house = House::of(broker).await;
    texts(&mut proof, &mut house).await;
    echoes(&mut proof, &house).await;
    values(&mut proof, &mut house).await;
    frames(&mut proof, &mut house).await;
    to_the_letter(&mut proof, &house).await;
    let cells = proof.passed() + proof.failed();
    assert_eq!(house.broker.terminate().await, 0, "it is well after all that");
    proof.close(format!("{cells} cells of door and shape, each with its definite answer"));
}

/// Whole texts that are no message.
async fn texts(proof: &mut Proof, house: &mut House) {
    let deep = "[".repeat(60_000);
    let deep_objects = nested(r#"{"a":"#, "}", 10_000);
    for entrance in &ENTRANCES {
        let twice = (entrance.carrying)("1").replacen('{', r#"{"payload":1,"payload":2,"#, 1);
        let bom = format!("\u{feff}{}", (entrance.carrying)("1"));
        let nul = format!("{}\0", (entrance.carrying)("1"));
        let two = (entrance.carrying)("1").repeat(2);
        let cases: [(&str, &str, &str); 13] = [
            ("nothing", "", entrance.no_json),
            ("a space", " ", entrance.no_json),
            ("half an object", "{", entrance.no_json),
            ("a word", "nonsense", entrance.no_json),
            ("null", "null", entrance.no_message),
            ("a number", "1", entrance.no_message),
            ("a string", "\"x\"", entrance.no_message),
            ("an array", "[[]]", entrance.no_message),
            ("an empty object", "{}", entrance.no_message),
            ("two messages in one", &two, entrance.no_json),
            ("a byte order mark", &bom, entrance.no_json),
            ("a NUL at the end", &nul, entrance.no_json),
            ("60,000 brackets", &deep, entrance.no_json),
        ];
        for (what, text, expected) in cases {
            let said = house.say(entrance.name, text.as_bytes()).await;
            tell(proof, &format!("{}: {what}", entrance.name), expected, &said);
        }
        let said = house.say(entrance.name, twice.as_bytes()).await;
        let deep = house.say(entrance.name, deep_objects.as_bytes()).await;
        let refused = [entrance.no_json, entrance.no_message];
        proof.check(
            format!("{}: an object 10,000 deep: {deep}", entrance.name),
            refused.contains(&deep.as_str()),
        );
        let definite = [entrance.no_message, entrance.well];
        proof.check(
            format!("{}: a key twice: {said}", entrance.name),
            definite.contains(&said.as_str()),
        );
    }
}

/// Whoever is refused hears why, and not all that it said again.
async fn echoes(proof: &mut Proof, house: &House) {
    let long = format!("\"{}\"", "\\u0001x".repeat(5000));
    for door in DOORS {
        let mut stranger = door.guest(&house.broker, &format!("long-{door:?}")).await;
        stranger.raw.text(&long).await;
        let bytes = stranger.raw.hear_text().await.len();
        proof.check(format!("{door:?}: {bytes} bytes about {}", long.len()), bytes < 4096);
    }
    for (path, token) in [
        ("/api/v1/protocol/messages", &house.mail),
        ("/api/register", &house.mail),
        ("/agents", &house.jwt),
        ("/console/call", &house.admin),
    ] {
        let bearer = format!("authorization: Bearer {token}\r\n");
        let heard = http_answer(&house.broker, "POST", path, &bearer, long.as_bytes()).await;
        let said = match &heard {
            Heard::Http(_, body) => body.len(),
            _ => usize::MAX,
        };
        proof.check(format!("{path}: {said} bytes about {}", long.len()), said < 4096);
    }
}

/// Values inside a message that is well otherwise.
async fn values(proof: &mut Proof, house: &mut House) {
    let many =
        format!("{{{}}}", (0..5000).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(","));
    let (digits, text) = ("7".repeat(5000), format!("\"{}\"", "x".repeat(50_000)));
    let (deep, deeper, bottomless) =
        (nested("[", "]", 40), nested("[", "]", 120), nested("[", "]", 20_000));
    let cases: [(&str, &str, bool); 19] = [
        ("a number of 5,000 digits", &digits, true),
        ("1e400", "1e400", true),
        ("-0", "-0", true),
        ("1E+2", "1E+2", true),
        ("an escaped NUL", r#""\u0000""#, true),
        ("an emoji", "\"😀\"", true),
        ("an escaped pair", r#""\ud83d\ude00""#, true),
        ("5,000 keys", &many, true),
        ("a text of 50,000 letters", &text, true),
        ("40 deep", &deep, true),
        ("120 deep", &deeper, true),
        ("20,000 deep", &bottomless, true),
        ("half a pair", r#""\ud800""#, true),
        ("NaN", "NaN", false),
        ("Infinity", "-Infinity", false),
        ("a leading zero", "01", false),
        ("a comma too many", "[1,]", false),
        ("a tab in a text", "\"a\tb\"", false),
        ("a quote that is another", "'a'", false),
    ];
    for entrance in &ENTRANCES {
        for (what, value, is_json) in cases {
            let said = house.say(entrance.name, (entrance.carrying)(value).as_bytes()).await;
            let name = format!("{}: {what}", entrance.name);
            match is_json {
                false => tell(proof, &name, entrance.no_json, &said),
                // A door may read more of it than another, and say so; it must be one of these.
                true => {
                    let definite = [entrance.well, entrance.no_message, entrance.no_json];
                    proof.check(format!("{name}: {said}"), definite.contains(&said.as_str()));
                }
            }
        }
    }
}

/// Frames that break the rules of WebSocket, on each door that speaks it.
async fn frames(proof: &mut Proof, house: &mut House) {
    let jwt = format!(
        "authorization: Bearer {}\r\nsec-websocket-protocol: agent-discovery\r\n",
        house.jwt
    );
    let cases: [(&str, Vec<u8>); 14] = [
        ("text that is not UTF-8", frame(true, TEXT, b"\"\xff\xfe\"")),
        ("text cut within a character", frame(true, TEXT, b"\xc3")),
        ("an opcode that is reserved", frame(true, 3, b"x")),
        ("a control opcode that is reserved", frame(true, 11, b"")),
        ("a reserved bit", {
            let mut one = frame(true, TEXT, b"{}");
            one[0] |= 0x40;
            one
        }),
        ("no mask", vec![0x81, 2, b'{', b'}']),
        ("a continuation of nothing", frame(true, CONTINUATION, b"x")),
        ("a ping in pieces", frame(false, PING, b"x")),
        ("a ping of 126 bytes", frame(true, PING, &[0; 126])),
        ("a message within another", [frame(false, TEXT, b"{"), frame(true, TEXT, b"{}")].concat()),
        ("2^63 bytes to come", head_of_frame(true, TEXT, 1 << 63)),
        ("2^40 bytes to come", head_of_frame(true, BINARY, 1 << 40)),
        ("a close of one byte", frame(true, CLOSE, b"\x03")),
        ("a close of a code that is not sent", frame(true, CLOSE, &1005_u16.to_be_bytes())),
    ];
    for (name, path, lines) in [
        ("Bus", "/", ""),
        ("Lobby", "/lobby", ""),
        ("Collaboration", "/collab", ""),
        ("Discovery", "/ws", jwt.as_str()),
    ] {
        for (what, bytes) in &cases {
            let mut raw = Raw::open(house.broker.address(), path, lines).await;
            raw.send(bytes).await;
            let heard = raw.hear_where(|_| false).await;
            proof.case(
                format!("{name}: {what}"),
                match heard {
                    Heard::Closed(_) => Ok(()),
                    other => Err(format!("{other:?}, and the connection goes on")),
                },
            );
        }
    }
    for door in DOORS {
        let guest = house.guests.iter_mut().find(|guest| guest.door == door).unwrap();
        guest.raw.send(&frame(true, BINARY, b"\xff\xfe")).await;
        let heard = guest.raw.hear().await;
        let expected = if door == Door::Bus { "-32700" } else { "INVALID_REQUEST" };
        tell(proof, &format!("{door:?}: bytes that are no text"), expected, &guest.word(&heard));
        let question = guest
            .question()
            .to_string()
            .replace("null", &format!("\"{}\"", house.token))
            .replace("\"sender_id\":\"\"", "\"sender_id\":\"lobby-guest\"");
        guest.raw.send(&frame(true, BINARY, question.as_bytes())).await;
        let heard = guest.raw.hear().await;
        tell(proof, &format!("{door:?}: text in a binary frame"), "ok", &guest.word(&heard));
        for _ in 0..2000 {
            guest.raw.send(&frame(true, PING, b"are you there")).await;
        }
        tell(proof, &format!("{door:?}: after 2,000 pings"), "ok", &guest.ask(&question).await);
    }
}

/// What may be said is handed over as it was written.
async fn to_the_letter(proof: &mut Proof, house: &House) {
    let mut listener = Door::Bus.guest(&house.broker, "listener").await;
    let subscribe = json!({ "jsonrpc": "2.0", "id": 3, "method": "subscribe", "params": { "topic": "letters" } });
    assert_eq!(listener.ask(&subscribe.to_string()).await, "ok");
    let mut sender = Door::Bus.guest(&house.broker, "scribe").await;
    let bottomless = nested("[", "]", 20_000);
    for (what, value) in [
        ("digits", "123456789012345678901234567890.12345678901234567890"),
        ("an exponent", "1e400"),
        ("keys that come twice", r#"{"a":1,"a":2}"#),
        ("escapes", r#""\u00e9\/\ud83d\ude00\u0000""#),
        ("spaces", "[ 1 , 2 ]"),
        ("20,000 levels", &bottomless),
    ] {
        let payload = format!(r#"{{"type":"t","v":{value}}}"#);
        sender.raw.text(&format!(r#"{{"jsonrpc":"2.0","method":"sendMessage","params":{{"topic":"letters","payload":{payload}}}}}"#)).await;
        let delivered = listener.raw.hear_text().await;
        proof.check(
            format!("{what} are handed over to the letter"),
            delivered.contains(&format!(r#""payload":{payload}"#)),
        );
        let id = delivered.rsplit_once("\"id\":").unwrap().1.trim_end_matches('}');
        listener
            .raw
            .text(&format!(r#"{{"jsonrpc":"2.0","result":{{"processed":true}},"id":{id}}}"#))
            .await;
    }
    let shown = eventually("the console shows them all", async || {
        let filter = json!({ "filter": { "topic": "letters" }, "limit": 10 });
        let kept = house.broker.call("messages", filter).await;
        let count = kept["rows"].as_array().map_or(0, Vec::len);
        (count == 6).then_some(count)
    });
    proof.check("the console shows them all", shown.await == 6);
}

fn tell(proof: &mut Proof, what: &str, expected: &str, said: &str) {
    proof
        .case(what, if said == expected { Ok(()) } else { Err(format!("{said}, not {expected}")) });
}
