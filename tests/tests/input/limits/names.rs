//! How long a name may be: ids, topics, capabilities, and all else that has one.

use serde_json::{Value, json};
use switchboard_tests::mail_agent::MailAgent;
use switchboard_tests::program::Program;

use super::{Table, signed_token, start};
use crate::doors::{DOORS, Door, http};

/// An id has 1 to 128 characters, however many bytes those have.
pub(super) async fn ids(table: &mut Table, broker: &Program) {
    for (what, letter) in [("characters", "i"), ("characters of two bytes", "é")] {
        for length in [0, 1, 127, 128, 129] {
            for door in DOORS {
                let good = (1..=128).contains(&length);
                let refused = match door {
                    Door::Bus => "-32002",
                    Door::Lobby | Door::Collaboration => "INVALID_REQUEST",
                };
                let mut id = letter.repeat(length);
                // One of a kind for each door.
                if length > 1 {
                    id.replace_range(
                        ..letter.len(),
                        match door {
                            Door::Bus => "b",
                            Door::Lobby => "l",
                            Door::Collaboration => "c",
                        },
                    );
                } else if length == 1 {
                    id = match (door, letter) {
                        (Door::Bus, "i") => "1",
                        (Door::Lobby, "i") => "2",
                        (Door::Collaboration, "i") => "3",
                        (Door::Bus, _) => "ä",
                        (Door::Lobby, _) => "ö",
                        (Door::Collaboration, _) => "ü",
                    }
                    .to_owned();
                }
                let mut guest = door.stranger(broker).await;
                let came = guest.join(&id, &json!([])).await;
                table.cell(
                    &format!("{door:?}: an id of {length} {what}"),
                    if good { "ok" } else { refused },
                    &came,
                );
            }
        }
    }
    for (what, id) in [
        ("a space", "a b"),
        ("a control character", "a\u{7}b"),
        ("a line break", "a\nb"),
        ("nothing to see", "a\u{200b}b"),
        ("another direction", "a\u{202e}b"),
    ] {
        for door in DOORS {
            let refused = if door == Door::Bus { "-32002" } else { "INVALID_REQUEST" };
            let came = door.stranger(broker).await.join(id, &json!([])).await;
            table.cell(&format!("{door:?}: an id with {what}"), refused, &came);
        }
    }
}

pub(super) async fn on_the_bus(table: &mut Table, broker: &Program) {
    let id = table.id();
    let mut guest = Door::Bus.guest(broker, &id).await;
    let call = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 4, "method": method, "params": params });
    let send = |params: Value| call("sendMessage", params);
    let x = |n: usize| "x".repeat(n);
    let payload = json!({ "type": "t" });
    let mut rows: Vec<(String, Value, &str)> = Vec::new();
    for (length, expected) in [(0, "-32602"), (1, "ok"), (511, "ok"), (512, "ok"), (513, "-32602")]
    {
        rows.push((
            format!("a topic of {length} bytes to send to"),
            send(json!({ "topic": x(length), "payload": payload })),
            expected,
        ));
        rows.push((
            format!("a topic of {length} bytes to leave"),
            call("unsubscribe", json!({ "topic": x(length) })),
            if expected == "ok" { "-32004" } else { expected },
        ));
    }
    for (length, expected) in [(255, "ok"), (256, "ok"), (257, "-32602")] {
        let params =
            json!({ "topic": "agent:nobody", "correlation_id": x(length), "payload": payload });
        rows.push((format!("a correlation of {length} bytes"), send(params), expected));
        let params = json!({ "topic": "agent:nobody", "payload": { "type": x(length) } });
        rows.push((format!("a capability of {length} bytes"), send(params), expected));
    }
    for (seconds, expected) in [
        ("0", "-32602"),
        ("-1", "-32602"),
        ("1e-9", "ok"),
        ("1e18", "ok"),
        ("1e300", "-32602"),
        ("\"1\"", "-32602"),
    ] {
        let params: Value = serde_json::from_str(&format!(
            r#"{{"topic":"x","ttl_seconds":{seconds},"payload":{{"type":"t"}}}}"#
        ))
        .unwrap();
        rows.push((format!("{seconds} seconds to live"), send(params), expected));
    }
    for (what, said, expected) in rows {
        let came = guest.ask(&said.to_string()).await;
        table.cell(&format!("Bus: {what}"), expected, &came);
    }
    for (length, expected) in [(255, "ok"), (256, "ok"), (257, "-32002")] {
        let id = table.id();
        let mut hello = Door::Bus.hello(&id, &json!([]));
        hello["params"]["clientInfo"]["name"] = json!(x(length));
        let came = Door::Bus.stranger(broker).await.ask(&hello.to_string()).await;
        table.cell(&format!("Bus: a program's name of {length} bytes"), expected, &came);
    }
}

pub(super) async fn in_the_lobby(table: &mut Table, broker: &Program) {
    let id = table.id();
    let mut guest = Door::Lobby.guest(broker, &id).await;
    let x = |n: usize| "x".repeat(n);
    // Nobody is called `nobody`: what is well-formed comes to that.
    for (length, expected) in [(255, "NOT_FOUND"), (256, "NOT_FOUND"), (257, "INVALID_REQUEST")] {
        let said = guest.lobby("REQUEST", &json!({ "capability_name": x(length) })).to_string();
        let came = guest.ask(&said).await;
        table.cell(&format!("Lobby: a capability of {length} bytes"), expected, &came);
        let mut said = guest.lobby("REQUEST", &json!({ "capability_name": "x" }));
        said["conversation_id"] = json!(x(length));
        let came = guest.ask(&said.to_string()).await;
        table.cell(&format!("Lobby: a conversation of {length} bytes"), expected, &came);
    }
    for (priority, expected) in [
        ("0", "NOT_FOUND"),
        ("4", "NOT_FOUND"),
        ("5", "INVALID_REQUEST"),
        ("-1", "INVALID_REQUEST"),
        ("1.5", "INVALID_REQUEST"),
        ("18446744073709551616", "INVALID_REQUEST"),
    ] {
        let mut said = guest.lobby("REQUEST", &json!({ "capability_name": "x" }));
        said["priority"] = serde_json::from_str(priority).unwrap();
        let came = guest.ask(&said.to_string()).await;
        table.cell(&format!("Lobby: priority {priority}"), expected, &came);
    }
}

pub(super) async fn in_collaboration(table: &mut Table, broker: &Program) {
    let id = table.id();
    let mut guest = Door::Collaboration.guest(broker, &id).await;
    let x = |n: usize| "x".repeat(n);
    let ask = |id: &str, to: Value, action: &str| json!({ "id": id, "type": "request", "to": to, "payload": { "action": action } });
    for (length, expected) in [
        (0, "INVALID_REQUEST"),
        (1, "NOT_FOUND"),
        (255, "NOT_FOUND"),
        (256, "NOT_FOUND"),
        (257, "INVALID_REQUEST"),
    ] {
        let came = guest.ask(&ask(&x(length), json!("nobody"), "x").to_string()).await;
        table.cell(
            &format!("Collaboration: an id of a message of {length} bytes"),
            expected,
            &came,
        );
        if length > 0 {
            let came = guest.ask(&ask("q", json!("nobody"), &x(length)).to_string()).await;
            table.cell(&format!("Collaboration: an action of {length} bytes"), expected, &came);
        }
    }
    for (count, expected) in [(0, 0), (1, 1), (255, 255), (256, 256), (257, 0)] {
        let to: Vec<String> = (0..count).map(|n| format!("nobody-{n}")).collect();
        guest.raw.text(&ask("many", json!(to), "x").to_string()).await;
        let mut came = String::new();
        for _ in 0..expected.max(1) {
            let heard = guest.raw.hear().await;
            came = guest.word(&heard);
        }
        let wanted = if expected > 0 { "NOT_FOUND" } else { "INVALID_REQUEST" };
        table.cell(&format!("Collaboration: a request to {count} agents"), wanted, &came);
    }
    for (length, expected) in [(1023, "ok"), (1024, "ok"), (1025, "INVALID_REQUEST")] {
        // Small when it is compiled, however long it is.
        let commented = format!("(?x)a #{}", x(length - 7));
        let filter = json!({ "topics": ["t1"], "filter": { "contentMatch": commented } });
        let said = Door::Collaboration.to_router("subscribe", &filter);
        let came = guest.ask(&said.to_string()).await;
        table.cell(&format!("Collaboration: an expression of {length} bytes"), expected, &came);
    }
}

pub(super) async fn in_mailboxes(table: &mut Table, broker: &Program) {
    let mail = MailAgent::issued(broker, "letters").await;
    let bearer = format!("authorization: Bearer {}\r\n", mail.token);
    let x = |n: usize| "x".repeat(n);
    let mut rows = Vec::new();
    for (length, expected) in [(0, 422), (1, 201), (255, 201), (256, 201), (257, 422)] {
        rows.push((
            format!("an action of {length} bytes"),
            json!({ "content": { "action": x(length) } }),
            expected,
        ));
        rows.push((
            format!("a correlation of {length} bytes"),
            json!({ "content": { "action": "x" }, "correlation_id": x(length) }),
            expected,
        ));
    }
    for (depth, expected) in [(118, 201), (119, 201), (120, 422)] {
        let nested: Value = (0..depth).fold(json!(1), |inner, _| json!({ "a": inner }));
        // The content itself is one more.
        let mut content = json!({ "action": "x" });
        content["metadata"] = nested;
        rows.push((format!("content {} deep", depth + 1), json!({ "content": content }), expected));
    }
    for (what, mut said, expected) in rows {
        said["sender_agent_id"] = json!("letters");
        said["receiver_agent_id"] = json!("letters");
        said["message_type"] = json!("notification");
        let came =
            http(broker, "POST", "/api/v1/protocol/messages", &bearer, said.to_string().as_bytes())
                .await;
        table.cell(&format!("AACP: {what}"), &expected.to_string(), &came);
    }
    for (query, expected) in [
        ("limit=0", 422),
        ("limit=1", 200),
        ("limit=100", 200),
        ("limit=101", 422),
        ("limit=-1", 422),
        ("limit=4294967296", 422),
        ("offset=0", 200),
        ("offset=999999999", 200),
        ("offset=1000000000", 200),
        ("offset=1000000001", 422),
        ("wait=0", 200),
        ("wait=-0.1", 422),
        ("wait=60.1", 422),
        ("wait=NaN", 422),
        ("wait=inf", 422),
        ("status=pending", 200),
        ("status=lost", 422),
        ("limit=1&limit=2", 422),
        ("limit=%31", 200),
        ("limit=%FF", 422),
        ("nonsense", 200),
    ] {
        let path = format!("/api/v1/protocol/messages/letters?{query}");
        let came = http(broker, "GET", &path, &bearer, b"").await;
        table.cell(&format!("AACP: ?{query}"), &expected.to_string(), &came);
    }
    let message = mail.mail("?limit=1").await.remove(0);
    let path = format!("/api/v1/protocol/messages/{}/status", message["id"].as_str().unwrap());
    for (length, expected) in [(2001, 422), (1999, 200), (2000, 200)] {
        let said = json!({ "status": "processed", "detail": x(length) }).to_string();
        let came = http(broker, "POST", &path, &bearer, said.as_bytes()).await;
        table.cell(&format!("AACP: {length} bytes about a message"), &expected.to_string(), &came);
    }
}

pub(super) async fn in_announcements(table: &mut Table, broker: &Program) {
    let jwt = format!("authorization: Bearer {}\r\n", signed_token(broker).await);
    let x = |n: usize| "x".repeat(n);
    let agent = |name: &str, capabilities: Value, endpoint: &str| {
        json!({ "protocol_version": "v1.0", "agent": {
            "agent_id": "3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d", "agent_name": name, "capabilities": capabilities,
            "transport": { "type": "tcp", "endpoint": endpoint },
        } })
    };
    // Whatever is well-formed comes to the same: nobody signed it.
    let (well, malformed) = ("401", "400");
    let mut rows = Vec::new();
    for (length, expected) in [(1, well), (62, well), (63, well), (64, malformed), (0, malformed)] {
        rows.push((
            format!("a name of {length} letters"),
            agent(&x(length), json!({}), "e"),
            expected,
        ));
    }
    for (count, expected) in [(255, well), (256, well), (257, malformed)] {
        let many: serde_json::Map<String, Value> =
            (0..count).map(|n| (format!("c{n}"), json!("1"))).collect();
        rows.push((
            format!("{count} capabilities"),
            agent("n", Value::Object(many), "e"),
            expected,
        ));
    }
    for (length, expected) in
        [(1, well), (255, well), (256, well), (257, malformed), (0, malformed)]
    {
        rows.push((
            format!("a capability of {length} bytes"),
            agent("n", json!({ x(length): "1" }), "e"),
            expected,
        ));
    }
    for (length, expected) in
        [(1, well), (1023, well), (1024, well), (1025, malformed), (0, malformed)]
    {
        rows.push((
            format!("an endpoint of {length} bytes"),
            agent("n", json!({}), &x(length)),
            expected,
        ));
    }
    for (what, said, expected) in rows {
        let came = http(broker, "POST", "/agents", &jwt, said.to_string().as_bytes()).await;
        table.cell(&format!("Discovery: {what}"), expected, &came);
    }
    // The message and its query are two levels of them.
    for (depth, expected) in [(61, "200"), (62, "200"), (63, "400"), (10_000, "400")] {
        let said = format!(
            r#"{{"protocol_version":"v1.0","query":{{"capability":"x","v":{}1{}}}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        );
        let came = http(broker, "POST", "/agents", &jwt, said.as_bytes()).await;
        table.cell(&format!("Discovery: nested {} deep", depth + 2), expected, &came);
    }
}

/// What an agent says that it can do.
pub(super) async fn capabilities(table: &mut Table) {
    // A stranger on the bus has no more room than the setting gives, whatever it declares.
    let folder = tempfile::tempdir().unwrap();
    let broker = &start(folder.path(), "[discovery]\nmdns = false\n").await;
    let x = |n: usize| "x".repeat(n);
    let many = |count: usize| Value::Array((0..count).map(|n| json!(format!("c{n}"))).collect());
    let keywords = |count: usize| json!([{ "name": "x", "keywords": (0..count).map(|n| format!("k{n}")).collect::<Vec<_>>() }]);
    let nested = |levels: usize| (0..levels).fold(json!(true), |inner, _| json!({ "not": inner }));
    let schema = |schema: Value| json!([{ "name": "x", "input_schema": schema }]);
    let everywhere = [Some(Door::Bus), Some(Door::Lobby), Some(Door::Collaboration), None];
    for door in everywhere {
        let rows = [
            ("255 capabilities", many(255), true),
            ("256 capabilities", many(256), true),
            ("257 capabilities", many(257), false),
            ("a capability of 255 bytes", json!([x(255)]), true),
            ("a capability of 256 bytes", json!([x(256)]), true),
            ("a capability of 257 bytes", json!([x(257)]), false),
            ("a capability of no bytes", json!([""]), false),
            ("a capability with a line break", json!(["a\nb"]), false),
            (
                "a description of 4,095 bytes",
                json!([{ "name": "x", "description": x(4095) }]),
                true,
            ),
            (
                "a description of 4,096 bytes",
                json!([{ "name": "x", "description": x(4096) }]),
                true,
            ),
            (
                "a description of 4,097 bytes",
                json!([{ "name": "x", "description": x(4097) }]),
                false,
            ),
            ("63 keywords", keywords(63), true),
            ("64 keywords", keywords(64), true),
            ("65 keywords", keywords(65), false),
            ("a schema 63 deep", schema(nested(63)), true),
            ("a schema 64 deep", schema(nested(64)), true),
            ("a schema 65 deep", schema(nested(65)), false),
            ("a schema that is none", schema(json!({ "type": "nonsense" })), false),
            (
                "a schema that refers outside",
                schema(json!({ "$ref": "http://127.0.0.1:1/x" })),
                false,
            ),
        ];
        for (what, declared, good) in rows {
            let id = table.id();
            let (name, came) = match door {
                Some(door) => {
                    (format!("{door:?}"), door.stranger(broker).await.join(&id, &declared).await)
                }
                None => {
                    let said = Door::Lobby.hello(&id, &declared).to_string();
                    let came = http(broker, "POST", "/api/register", "", said.as_bytes()).await;
                    ("Lobby over HTTP".to_owned(), came)
                }
            };
            let expected = match (door, good) {
                (Some(_), true) => "ok",
                (None, true) => "200",
                (Some(Door::Bus), false) => "-32602",
                (Some(Door::Lobby | Door::Collaboration), false) => "INVALID_REQUEST",
                (None, false) => "422",
            };
            table.cell(&format!("{name}: {what}"), expected, &came);
        }
    }
}
