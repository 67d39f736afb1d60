//! Each ruling as a line of a table; what must hold for every payload as a property.

use proptest::prelude::*;

use super::outcomes::PROGRESS;
use super::*;
use Dialect::{Aacp, Bus, Collaboration, Lobby};

fn object(text: &str) -> Object {
    Object::parse(text).unwrap()
}

fn json(text: &str) -> Payload {
    Payload::parse(text).unwrap()
}

fn call(capability: Option<&str>, input: &str) -> Call {
    Call { capability: capability.map(str::to_owned), input: object(input) }
}

fn success(output: &str) -> Outcome {
    Outcome::Success(json(output))
}

fn partial(status: &str, output: &str) -> Outcome {
    Outcome::Partial { status: status.to_owned(), output: json(output) }
}

fn failure(code: &str, message: &str, details: Option<&str>) -> Outcome {
    let details = details.map(json);
    Outcome::Failure(Failure { code: code.to_owned(), message: message.to_owned(), details })
}

#[test]
fn every_door_speaks_a_dialect_that_has_a_name() {
    for dialect in Dialect::ALL {
        assert_eq!(Dialect::parse(dialect.as_str()), Some(dialect));
        assert_eq!(
            serde_json::to_string(&dialect).unwrap(),
            Payload::of_text(dialect.as_str()).as_str()
        );
    }
    assert_eq!(Dialect::parse("console"), None);
    let spoken = Door::ALL.map(Dialect::of);
    assert_eq!(spoken, [Bus, Lobby, Collaboration, Aacp, Aacp, Bus], "as the doors are listed");
}

#[test]
fn a_call_is_written_in_the_words_of_each_door() {
    let plain = call(Some("sum"), r#"{"a":1,"b":[2]}"#);
    let nameless = call(None, r#"{"a":1}"#);
    for (dialect, expected, without) in [
        (Bus, r#"{"type":"sum","capability":"sum","a":1,"b":[2]}"#, r#"{"type":"request","a":1}"#),
        (Lobby, r#"{"capability_name":"sum","a":1,"b":[2]}"#, r#"{"a":1}"#),
        (
            Collaboration,
            r#"{"action":"sum","parameters":{"a":1,"b":[2]}}"#,
            r#"{"parameters":{"a":1}}"#,
        ),
        (Aacp, r#"{"action":"sum","input":{"a":1,"b":[2]}}"#, r#"{"input":{"a":1}}"#),
    ] {
        assert_eq!(dialect.write_call(&plain).as_str(), expected);
        assert_eq!(dialect.read_call(expected), plain);
        assert_eq!(dialect.write_call(&nameless).as_str(), without);
    }
}

#[test]
fn a_call_is_read_as_well_as_can_be() {
    for (dialect, payload, expected) in [
        (Bus, r#"{"type":"sum","a":1}"#, call(Some("sum"), r#"{"a":1}"#)),
        (Bus, r#"{"capability":"sum","a":1}"#, call(Some("sum"), r#"{"a":1}"#)),
        // Another type than the capability is the sender's own.
        (Bus, r#"{"type":"task","capability":"sum"}"#, call(Some("sum"), r#"{"type":"task"}"#)),
        (Bus, r#"{"type":5,"capability":"sum"}"#, call(Some("sum"), r#"{"type":5}"#)),
        (Bus, r#"{"type":"sum","capability":5}"#, call(Some("sum"), r#"{"capability":5}"#)),
        (Bus, r#"{"a":1}"#, call(None, r#"{"a":1}"#)),
        (Lobby, r#"{"a":1}"#, call(None, r#"{"a":1}"#)),
        (Lobby, r#"{"capability_name":5}"#, call(None, r#"{"capability_name":5}"#)),
        (Collaboration, r#"{"action":"sum","timeout":5000}"#, call(Some("sum"), "{}")),
        (
            Collaboration,
            r#"{"action":"sum","parameters":[1],"timeout":5000}"#,
            call(Some("sum"), r#"{"result":[1]}"#),
        ),
        (Collaboration, r#"{"parameters":{"a":1}}"#, call(None, r#"{"a":1}"#)),
        (Collaboration, r#"{"a":1}"#, call(None, r#"{"a":1}"#)),
        (Aacp, r#"{"action":"sum","input":"1+1"}"#, call(Some("sum"), r#"{"result":"1+1"}"#)),
        (Aacp, r#"{"action":"sum","a":1}"#, call(Some("sum"), r#"{"a":1}"#)),
    ] {
        assert_eq!(dialect.read_call(payload), expected, "{dialect:?} {payload}");
    }
    for dialect in Dialect::ALL {
        assert_eq!(dialect.read_call("[1.10]"), call(None, r#"{"result":[1.10]}"#));
        assert_eq!(dialect.read_call("{oops"), call(None, r#"{"result":"{oops"}"#), "no JSON");
    }
}

#[test]
fn a_key_of_the_input_that_collides_travels_under_input() {
    for (dialect, input, expected) in [
        (
            Bus,
            r#"{"a":1,"type":2,"capability":3,"b":4}"#,
            r#"{"type":"c","capability":"c","a":1,"input":{"type":2,"capability":3},"b":4}"#,
        ),
        (Bus, r#"{"input":{"a":1}}"#, r#"{"type":"c","capability":"c","input":{"a":1}}"#),
        (Bus, r#"{"input":{}}"#, r#"{"type":"c","capability":"c","input":{}}"#),
        // The place is needed, so that what is there moves too.
        (
            Bus,
            r#"{"input":7,"type":2}"#,
            r#"{"type":"c","capability":"c","input":{"input":7,"type":2}}"#,
        ),
        // It would be unfolded, so that it is folded.
        (
            Bus,
            r#"{"input":{"type":2}}"#,
            r#"{"type":"c","capability":"c","input":{"input":{"type":2}}}"#,
        ),
        (
            Lobby,
            r#"{"type":1,"capability_name":2}"#,
            r#"{"capability_name":"c","type":1,"input":{"capability_name":2}}"#,
        ),
        (Collaboration, r#"{"action":1}"#, r#"{"action":"c","parameters":{"action":1}}"#),
        (Aacp, r#"{"input":1}"#, r#"{"action":"c","input":{"input":1}}"#),
    ] {
        let asked = call(Some("c"), input);
        assert_eq!(dialect.write_call(&asked).as_str(), expected);
        assert_eq!(dialect.read_call(expected), asked);
    }
    let both = r#"{"type":"task","capability":"c","input":{"type":"other"}}"#;
    let kept = call(Some("c"), r#"{"type":"task","input":{"type":"other"}}"#);
    assert_eq!(Bus.read_call(both), kept, "unfolding would lose one of the two types");
}

#[test]
fn an_outcome_is_written_in_the_words_of_each_door() {
    let done = success(r#"{"sum":3}"#);
    let number = success("1.10");
    let working = partial("in_progress", r#"{"percent":40}"#);
    let late = failure("TIMEOUT", "too late", None);
    for (dialect, outcome, expected) in [
        (Bus, &done, r#"{"type":"response","sum":3}"#),
        (Bus, &number, r#"{"type":"response","result":1.10}"#),
        (Bus, &working, r#"{"type":"progress","status":"in_progress","percent":40}"#),
        (
            Bus,
            &late,
            r#"{"type":"error","status":"error","error":{"code":"TIMEOUT","message":"too late"}}"#,
        ),
        (Lobby, &done, r#"{"status":"success","sum":3}"#),
        (Lobby, &number, r#"{"status":"success","result":1.10}"#),
        (Lobby, &working, r#"{"status":"in_progress","percent":40}"#),
        (Lobby, &late, r#"{"status":"error","error":"too late","code":"TIMEOUT"}"#),
        (Collaboration, &done, r#"{"status":"success","result":{"sum":3}}"#),
        (Collaboration, &number, r#"{"status":"success","result":1.10}"#),
        (Collaboration, &working, r#"{"status":"partial","result":{"percent":40}}"#),
        (
            Collaboration,
            &late,
            r#"{"status":"error","error":{"code":"TIMEOUT","message":"too late"}}"#,
        ),
        (Aacp, &done, r#"{"action":"c","output":{"sum":3}}"#),
        (Aacp, &number, r#"{"action":"c","output":{"result":1.10}}"#),
        (Aacp, &working, r#"{"action":"c","output":{"status":"in_progress","percent":40}}"#),
        (
            Aacp,
            &late,
            r#"{"action":"c","output":{"error":{"code":"TIMEOUT","message":"too late"},"status":"error"}}"#,
        ),
    ] {
        assert_eq!(dialect.write_outcome(Some("c"), outcome).as_str(), expected);
    }
    assert_eq!(Aacp.write_outcome(None, &done).as_str(), r#"{"output":{"sum":3}}"#);
    let plain = failure("ERROR", "no", None);
    assert_eq!(
        Lobby.write_outcome(None, &plain).as_str(),
        r#"{"status":"error","error":"no"}"#,
        "the code that is understood is left out"
    );
}

#[test]
fn an_outcome_is_read_as_well_as_can_be() {
    for (dialect, payload, expected) in [
        (Bus, r#"{"type":"sum.done","correlation_id":"k","sum":3}"#, success(r#"{"sum":3}"#)),
        (Bus, r#"{"type":"x","status":"error","a":1}"#, success(r#"{"status":"error","a":1}"#)),
        (Bus, r#"{"type":"error","status":"error"}"#, none_told()),
        (Bus, r#"{"type":"progress","a":1}"#, success(r#"{"a":1}"#)),
        (Lobby, r#"{"sum":3}"#, success(r#"{"sum":3}"#)),
        (Lobby, r#"{"status":5}"#, success(r#"{"status":5}"#)),
        (Lobby, r#"{"status":"queued","place":2}"#, partial("queued", r#"{"place":2}"#)),
        (Collaboration, r#"{"status":"partial","result":[1]}"#, partial("partial", "[1]")),
        (Collaboration, r#"{"result":[1]}"#, success("[1]")),
        (Collaboration, r#"{"a":1}"#, success(r#"{"a":1}"#)),
        (Collaboration, r#"{"status":"success"}"#, success("{}")),
        (Collaboration, r#"{"status":"done","a":1}"#, success(r#"{"status":"done","a":1}"#)),
        (Aacp, r#"{"action":"c","output":[1]}"#, success("[1]")),
        (Aacp, r#"{"action":"c","a":1}"#, success(r#"{"a":1}"#)),
        (Aacp, r#"{"output":{"error":null}}"#, success(r#"{"error":null}"#)),
        (Aacp, r#"{"output":{"error":"no"}}"#, failure("ERROR", "no", None)),
    ] {
        assert_eq!(dialect.read_outcome(payload), expected, "{dialect:?} {payload}");
    }
    for dialect in Dialect::ALL {
        assert_eq!(dialect.read_outcome("1e400"), success("1e400"));
        assert_eq!(dialect.read_outcome("oops"), success(r#""oops""#), "no JSON");
    }
}

fn none_told() -> Outcome {
    failure("ERROR", "the provider reported an error", None)
}

#[test]
fn a_failure_is_understood_however_its_provider_puts_it() {
    for (rest, expected) in [
        ("", none_told()),
        (r#","error":null"#, none_told()),
        (r#","error":"no""#, failure("ERROR", "no", None)),
        (r#","error":"no","code":"BUSY""#, failure("BUSY", "no", None)),
        (r#","error":{"code":"BUSY","message":"no"}"#, failure("BUSY", "no", None)),
        (r#","error":{"message":"no"},"code":"BUSY""#, failure("BUSY", "no", None)),
        (
            r#","error":{"code":-32000,"message":"no"}"#,
            failure("ERROR", "no", Some(r#"{"code":-32000}"#)),
        ),
        (
            r#","error":{"code":"BUSY","why":1.10}"#,
            failure("BUSY", r#"{"code":"BUSY","why":1.10}"#, Some(r#"{"why":1.10}"#)),
        ),
        (r#","error":[1]"#, failure("ERROR", "[1]", None)),
        (r#","error":"no","details":{"a":1}"#, failure("ERROR", "no", Some(r#"{"a":1}"#))),
        (r#","error":"no","details":"a""#, failure("ERROR", "no", Some(r#"{"details":"a"}"#))),
        (
            r#","error":{"message":"no","details":{}},"retry_after":5"#,
            failure("ERROR", "no", Some(r#"{"retry_after":5,"details":{}}"#)),
        ),
    ] {
        let payload = format!(r#"{{"status":"error"{rest}}}"#);
        assert_eq!(Lobby.read_outcome(&payload), expected, "{payload}");
        assert_eq!(Collaboration.read_outcome(&payload), expected, "{payload}");
        let payload = format!(r#"{{"type":"error","status":"error"{rest}}}"#);
        assert_eq!(Bus.read_outcome(&payload), expected, "{payload}");
    }
}

#[test]
fn a_key_of_the_output_that_collides_travels_under_output() {
    for (dialect, output, expected) in [
        (
            Bus,
            r#"{"type":1,"correlation_id":2,"status":3,"a":4}"#,
            r#"{"type":"response","output":{"type":1,"correlation_id":2,"status":3},"a":4}"#,
        ),
        (
            Lobby,
            r#"{"status":"shipped","type":1}"#,
            r#"{"status":"success","output":{"status":"shipped"},"type":1}"#,
        ),
        (
            Lobby,
            r#"{"output":{"output":1}}"#,
            r#"{"status":"success","output":{"output":{"output":1}}}"#,
        ),
        (Lobby, r#"{"output":{"a":1}}"#, r#"{"status":"success","output":{"a":1}}"#),
        (Collaboration, r#"{"status":1}"#, r#"{"status":"success","result":{"status":1}}"#),
        (Aacp, r#"{"output":1,"action":2}"#, r#"{"output":{"output":1,"action":2}}"#),
    ] {
        assert_eq!(dialect.write_outcome(None, &success(output)).as_str(), expected);
        assert_eq!(dialect.read_outcome(expected), success(output));
    }
}

#[test]
fn an_event_is_written_in_the_words_of_each_door() {
    for (content, flat) in [
        (r#"{"a": 1, "type":"news"}"#, r#"{"a": 1, "type":"news"}"#),
        (r#"{"a":1.10}"#, r#"{"type":"event","a":1.10}"#),
        ("{}", r#"{"type":"event"}"#),
        (r#"{"type":5}"#, r#"{"type":"event","result":{"type":5}}"#),
        ("[1e400]", r#"{"type":"event","result":[1e400]}"#),
    ] {
        for dialect in [Bus, Lobby, Aacp] {
            assert_eq!(dialect.write_event("t", &json(content)).as_str(), flat);
            assert_eq!(dialect.read_event(content), json(content));
        }
        let wrapped = Collaboration.write_event("t\"", &json(content));
        assert_eq!(wrapped.as_str(), format!(r#"{{"topic":"t\"","content":{content}}}"#));
        assert_eq!(Collaboration.read_event(wrapped.as_str()), json(content));
    }
    assert_eq!(Collaboration.read_event(r#"{"a":1}"#), json(r#"{"a":1}"#), "no content: all of it");
}

#[test]
fn values_stay_the_text_they_were_from_every_door_to_every_other() {
    let values =
        r#"{"n":9007199254740993,"f":1.10,"e":1e400,"u":"\u00e9\ud83d\ude00","d":{"x":[-0]}}"#;
    let asked = call(Some("sum"), values);
    for from in Dialect::ALL {
        for to in Dialect::ALL {
            let read = from.read_call(from.write_call(&asked).as_str());
            let there = to.read_call(to.write_call(&read).as_str());
            assert_eq!(there.input.to_payload().as_str(), values, "{from:?} to {to:?}");

            let read = from.read_outcome(from.write_outcome(None, &success(values)).as_str());
            let there = to.read_outcome(to.write_outcome(None, &read).as_str());
            assert_eq!(there, success(values), "{from:?} to {to:?}");

            let told = failure("BUSY", "\u{e9}", Some(values));
            let read = from.read_outcome(from.write_outcome(None, &told).as_str());
            let there = to.read_outcome(to.write_outcome(None, &read).as_str());
            assert_eq!(there, told, "{from:?} to {to:?}");
        }
    }
}

#[test]
fn many_keys_take_no_longer_than_reading_them() {
    // As many as fit into a message; a search for each key would be felt.
    let keys: Vec<String> = (0..50_000).map(|n| format!(r#""k{n}":{n}"#)).collect();
    let wide = format!(r#"{{"type":1,{}}}"#, keys.join(","));
    let asked = call(Some("c"), &wide);
    assert_eq!(Bus.read_call(Bus.write_call(&asked).as_str()), asked);
    let told = format!(r#"{{"status":"error","error":{wide},{}}}"#, keys.join(","));
    assert!(matches!(Lobby.read_outcome(&told), Outcome::Failure(_)));
}

const KEYS: [&str; 16] = [
    "type",
    "capability",
    "capability_name",
    "input",
    "output",
    "status",
    "result",
    "action",
    "parameters",
    "error",
    "correlation_id",
    "code",
    "message",
    "details",
    "topic",
    "content",
];

fn a_key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => proptest::sample::select(&KEYS[..]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn a_word() -> impl Strategy<Value = String> {
    let words = ["success", "error", "partial", "progress", "response", "request", "event", ""];
    prop_oneof![proptest::sample::select(words.to_vec()).prop_map(str::to_owned), any::<String>()]
}

fn an_object_of(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    proptest::collection::vec((a_key(), value), 0..6).prop_map(|entries| {
        let mut object = Object::default();
        for (key, value) in entries {
            object.set(&key, json(&value));
        }
        object.to_payload().as_str().to_owned()
    })
}

fn a_value() -> impl Strategy<Value = String> {
    let texts = ["null", "true", "9007199254740993", "1.10", "1e400", "-0", r#""\u00e9""#, "{}"];
    let leaf = prop_oneof![
        proptest::sample::select(texts.to_vec()).prop_map(str::to_owned),
        a_word().prop_map(|word| Payload::of_text(&word).as_str().to_owned()),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            3 => an_object_of(inner.clone()),
            1 => proptest::collection::vec(inner, 0..3)
                .prop_map(|items| format!("[ {} ]", items.join(" , "))),
        ]
    })
}

fn an_object() -> impl Strategy<Value = String> {
    an_object_of(a_value())
}

/// The order among keys that collide is all that folding may change.
fn sorted(object: &Object) -> Vec<(&str, &Payload)> {
    let mut entries: Vec<_> = object.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    entries
}

/// What carries an output, with the output apart so that it can be compared.
fn apart(outcome: &Outcome) -> (Option<&str>, Object) {
    match outcome {
        Outcome::Success(output) => (None, object(output.as_str())),
        Outcome::Partial { status, output } => (Some(status), object(output.as_str())),
        Outcome::Failure(failure) => panic!("{failure:?} was no failure"),
    }
}

proptest! {
    #[test]
    fn a_call_comes_back_as_it_was(name in proptest::option::of(a_word()), input in an_object()) {
        let asked = call(name.as_deref(), &input);
        for dialect in Dialect::ALL {
            let back = dialect.read_call(dialect.write_call(&asked).as_str());
            // A bus message has a type, and a type without a capability is one.
            let nameless = (dialect == Bus).then(|| "request".to_owned());
            prop_assert_eq!(&back.capability, &asked.capability.clone().or(nameless));
            prop_assert_eq!(sorted(&back.input), sorted(&asked.input));
        }
    }

    #[test]
    fn a_success_comes_back_as_it_was(output in an_object()) {
        let done = success(&output);
        for dialect in Dialect::ALL {
            // On aacp an output with an error is a failure.
            let error = object(&output).get("error").is_some_and(|error| error.as_str() != "null");
            if dialect == Aacp && error {
                continue;
            }
            let back = dialect.read_outcome(dialect.write_outcome(Some("c"), &done).as_str());
            let ((status, back), (_, output)) = (apart(&back), apart(&done));
            prop_assert_eq!(status, None);
            prop_assert_eq!(sorted(&back), sorted(&output));
        }
    }

    #[test]
    fn a_partial_comes_back_as_it_was(
        status in prop_oneof![a_word(), prop::sample::select(&PROGRESS[..]).prop_map(str::to_owned)],
        output in an_object(),
    ) {
        let working = partial(&status, &output);
        for dialect in [Bus, Lobby, Collaboration] {
            // At the lobby any other word is an end.
            if dialect == Lobby && !PROGRESS.contains(&status.as_str()) {
                continue;
            }
            let back = dialect.read_outcome(dialect.write_outcome(None, &working).as_str());
            let ((word, back), (_, output)) = (apart(&back), apart(&working));
            let expected = if dialect == Collaboration { "partial" } else { &status };
            prop_assert_eq!(word, Some(expected));
            prop_assert_eq!(sorted(&back), sorted(&output));
        }
    }

    #[test]
    fn a_failure_comes_back_as_it_was(
        code in a_word(), message in a_word(), details in proptest::option::of(an_object()),
    ) {
        let told = failure(&code, &message, details.as_deref());
        for dialect in Dialect::ALL {
            let back = dialect.read_outcome(dialect.write_outcome(Some("c"), &told).as_str());
            prop_assert_eq!(&back, &told);
        }
    }

    #[test]
    fn nothing_that_arrives_breaks_a_reader(
        payload in prop_oneof![any::<String>(), a_value(), r#"[{}\[\]",:\\u0-9a-f ]{0,24}"#],
    ) {
        for (from, to) in Dialect::ALL.iter().flat_map(|from| Dialect::ALL.map(|to| (*from, to))) {
            let asked = from.read_call(&payload);
            prop_assert!(Object::parse(to.write_call(&asked).as_str()).is_ok());
            let outcome = from.read_outcome(&payload);
            prop_assert!(Object::parse(to.write_outcome(Some("c"), &outcome).as_str()).is_ok());
            let said = from.read_event(&payload);
            prop_assert!(Object::parse(to.write_event("t", &said).as_str()).is_ok());
        }
    }
}
