//! Schemas and values that were made to take long. The core checks them in its one task, so everyone would wait: each
//! is refused, or answered in a few milliseconds.

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use super::Schema;

/// What one check, or one compilation, may cost in milliseconds of a processor. What is not optimised is slower by
/// far, and only must not hang.
const MOST_MS: f64 = if cfg!(debug_assertions) { 5000.0 } else { 100.0 };

struct Case {
    name: String,
    schema: Value,
    value: String,
}

fn case(name: impl Into<String>, schema: Value, value: impl Into<String>) -> Case {
    Case { name: name.into(), schema, value: value.into() }
}

/// As large as a message may be; what is not optimised gets a quarter of it.
const MESSAGE: usize = if cfg!(debug_assertions) { 1 << 18 } else { 1 << 20 };

/// An array of so many times this text, as long as a message may be.
fn array_of(item: &str) -> String {
    let count = (MESSAGE - 2) / (item.len() + 1);
    format!("[{}]", vec![item; count].join(","))
}

fn text_of(piece: &str, length: usize) -> String {
    json!(piece.repeat(length / piece.len())).to_string()
}

fn patterns() -> Vec<Case> {
    let hostile = [
        ("nested quantifiers", "(a+)+$"),
        ("nested stars", "((a*)*)*$"),
        ("alternatives that overlap", "(a|aa|aaa|aaaa)+$"),
        ("optional a thousand times", "(a?){1000}a{1000}"),
        ("counted in counted", "(a{1,30}){1,30}$"),
        ("a window that never ends", "a.{500}b$"),
        ("many windows", "(.a){1,100}(.b){1,100}$"),
        ("all letters of the world", "^(\\p{L}|\\p{N}|\\p{M})+!$"),
        ("all letters, counted", "^[\\p{L}\\p{N}]{1,100}!$"),
        ("words", "(\\w+\\s?)+!$"),
        ("dots", ".*.*.*.*.*.*.*.*.*.*=.*"),
        ("all letters, whatever their case", "(?i)[\\x{0}-\\x{10ffff}]{2}!$"),
        ("either of two at each place", "(x|y)*z[xy]{12}!"),
    ];
    let mut cases = Vec::new();
    for (name, pattern) in hostile {
        for (filler, length) in
            [("a", MESSAGE - 16), ("ab", MESSAGE - 16), ("xyzz", MESSAGE - 16), ("é", MESSAGE - 16)]
        {
            let value = text_of(filler, length);
            cases.push(case(
                format!("pattern: {name} in {filler}…"),
                json!({ "pattern": pattern }),
                value,
            ));
        }
        let keys = json!({ "patternProperties": { pattern: { "type": "string" } } });
        let object: serde_json::Map<String, Value> =
            (0..10_000).map(|n| (format!("{}{n}", "a".repeat(80)), json!(1))).collect();
        cases.push(case(format!("keys: {name}"), keys, Value::Object(object).to_string()));
        cases.push(case(
            format!("many texts: {name}"),
            json!({ "items": { "pattern": pattern } }),
            array_of(&format!("\"{}\"", "a".repeat(40))),
        ));
    }
    let many: serde_json::Map<String, Value> =
        (0..100).map(|n| (format!("(a|b|c){{1,{n}}}x$"), json!({}))).collect();
    let object: serde_json::Map<String, Value> =
        (0..10_000).map(|n| (format!("{}{n}", "abc".repeat(30)), json!(1))).collect();
    cases.push(case(
        "a hundred patterns for ten thousand keys",
        json!({ "patternProperties": many }),
        Value::Object(object).to_string(),
    ));
    let all: Vec<Value> =
        (0..90).map(|n| json!({ "pattern": format!("(a|b|c){{1,{n}}}[xy]{{5}}$") })).collect();
    cases.push(case(
        "ninety patterns for one text",
        json!({ "allOf": all }),
        text_of("abc", MESSAGE - 16),
    ));
    cases.push(case(
        "a giant alternation",
        json!({ "pattern": (0..5000).map(|n| format!("k{n}")).collect::<Vec<_>>().join("|") }),
        text_of("k", MESSAGE - 16),
    ));
    let letters = ["(?i)[\\x{0}-\\x{10ffff}]", "(?i)[\\w]", "(?i)\\p{L}", "[\\p{L}\\p{N}]"];
    for letters in letters {
        let pattern = letters.repeat(60_000 / letters.len());
        cases.push(case(format!("as many {letters} as fit"), json!({ "pattern": pattern }), "1"));
    }
    let fitting: Vec<Value> =
        (0..90).map(|n| json!({ "pattern": format!("^[ab]*(c{{{n}}})?$") })).collect();
    for length in [64 << 10, 90 << 10, MESSAGE - 16] {
        let name = format!("ninety patterns that fit {length} bytes");
        cases.push(case(name, json!({ "allOf": fitting }), text_of("ab", length)));
    }
    cases
}

fn shapes() -> Vec<Case> {
    let names: Vec<String> = (0..7000).map(|n| format!("n{n}")).collect();
    let numbers: Vec<u32> = (0..9000).collect();
    let texts: Vec<String> = (0..3000).map(|n| format!("aaaaaaaaaa{n:05}")).collect();
    let objects: Vec<Value> = (0..2000).map(|n| json!({ "a": { "b": n } })).collect();
    let few: serde_json::Map<String, Value> =
        (0..4000).map(|n| (format!("n{n}"), json!({}))).collect();
    let dependent: serde_json::Map<String, Value> =
        (0..2000).map(|n| (format!("n{n}"), json!(["x"]))).collect();
    let any: Vec<Value> = (0..900).map(|n| json!({ "const": n })).collect();
    let any_types: Vec<Value> = (0..900).map(|n| json!({ "minimum": n + 10 })).collect();
    let distinct =
        |n: usize| format!("[{}]", (0..n).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let twins = |n: usize| {
        format!("[{}]", (0..n).map(|n| format!("{{\"a\":[{n}]}}")).collect::<Vec<_>>().join(","))
    };
    vec![
        case(
            "a huge enum for many numbers",
            json!({ "items": { "enum": numbers } }),
            array_of("8999"),
        ),
        case(
            "a huge enum of texts",
            json!({ "items": { "enum": texts } }),
            array_of("\"aaaaaaaaaa02999\""),
        ),
        case(
            "a huge enum of objects",
            json!({ "items": { "enum": objects } }),
            array_of("{\"a\":{\"b\":1999}}"),
        ),
        case(
            "many required names for many objects",
            json!({ "items": { "required": names } }),
            array_of("{}"),
        ),
        case(
            "many properties for many objects",
            json!({ "items": { "properties": few } }),
            array_of("{}"),
        ),
        case(
            "many dependencies for many objects",
            json!({ "items": { "dependentRequired": dependent } }),
            array_of("{}"),
        ),
        case(
            "many alternatives for many numbers",
            json!({ "items": { "anyOf": any } }),
            array_of("899"),
        ),
        case("one of many for many numbers", json!({ "items": { "oneOf": any } }), array_of("899")),
        case(
            "many bounds for many numbers",
            json!({ "items": { "allOf": any_types } }),
            array_of("99999"),
        ),
        case(
            "contains, counted",
            json!({ "contains": { "enum": numbers }, "minContains": 500_000 }),
            array_of("8999"),
        ),
        case("unique numbers", json!({ "uniqueItems": true }), distinct(150_000)),
        case("unique objects", json!({ "uniqueItems": true }), twins(60_000)),
        case(
            "unique texts that begin alike",
            json!({ "uniqueItems": true }),
            format!(
                "[{}]",
                (0..10_000)
                    .map(|n| format!("\"{}{n:05}\"", "a".repeat(90)))
                    .collect::<Vec<_>>()
                    .join(",")
            ),
        ),
        case(
            "unique in unique",
            json!({ "uniqueItems": true, "items": { "uniqueItems": true } }),
            format!(
                "[{}]",
                (0..200)
                    .map(|n| format!("[{n},{}]", distinct(700).trim_matches(['[', ']'])))
                    .collect::<Vec<_>>()
                    .join(",")
            ),
        ),
        case(
            "unevaluated items over alternatives",
            json!({ "anyOf": (0..60).map(|n| json!({ "prefixItems": [{ "const": n }] })).collect::<Vec<_>>(), "unevaluatedItems": { "type": "integer" } }),
            distinct(100_000),
        ),
        case(
            "unevaluated properties",
            json!({ "anyOf": (0..60).map(|n| json!({ "properties": { format!("n{n}"): {} } })).collect::<Vec<_>>(), "unevaluatedProperties": { "type": "integer" } }),
            Value::Object((0..30_000).map(|n| (format!("k{n}"), json!(1))).collect()).to_string(),
        ),
        case(
            "names of properties",
            json!({ "propertyNames": { "enum": texts } }),
            Value::Object(
                (0..30_000)
                    .map(|n| (format!("aaaaaaaaaa{:05}", n % 3000) + &n.to_string(), json!(1)))
                    .collect(),
            )
            .to_string(),
        ),
        case(
            "a fraction to be a multiple of",
            json!({ "items": { "multipleOf": 0.000_000_1 } }),
            array_of("0.3"),
        ),
        case(
            "a number of many digits",
            json!({ "multipleOf": 3, "minimum": 1 }),
            "7".repeat(MESSAGE - 1),
        ),
        case(
            "many numbers of many digits",
            json!({ "items": { "multipleOf": 7, "minimum": 1 } }),
            array_of(&"7".repeat(300)),
        ),
        case("exponents", json!({ "items": { "multipleOf": 0.01 } }), array_of("1e308")),
        case("formats", json!({ "items": { "format": "email" } }), array_of("\"a@b.c\"")),
        case(
            "lengths of texts",
            json!({ "allOf": (0..200).map(|n| json!({ "maxLength": MESSAGE + n })).collect::<Vec<_>>() }),
            text_of("é", MESSAGE - 16),
        ),
        case(
            "a deep value",
            json!({ "items": { "$ref": "#" } }),
            format!("{}{}", "[".repeat(100), "]".repeat(100)),
        ),
    ]
}

fn references() -> Vec<Case> {
    let double = |depth: usize, lead: &dyn Fn(String) -> Value| {
        let mut defs = serde_json::Map::new();
        for n in 0..depth {
            defs.insert(format!("d{n}"), lead(format!("#/$defs/d{}", n + 1)));
        }
        defs.insert(format!("d{depth}"), json!({ "type": "integer" }));
        json!({ "$ref": "#/$defs/d0", "$defs": defs })
    };
    let twice =
        |key: &'static str| move |to: String| json!({ key: [{ "$ref": to }, { "$ref": to }] });
    let mut cases = Vec::new();
    for key in ["allOf", "anyOf", "oneOf"] {
        for depth in [5, 9, 20, 60] {
            cases.push(case(
                format!("{key} that doubles {depth} times"),
                double(depth, &twice(key)),
                "1",
            ));
            cases.push(case(
                format!("the same {key} for many items"),
                json!({ "items": double(depth, &twice(key)) }),
                array_of("1"),
            ));
        }
    }
    let deeper = |to: String| json!({ "items": { "anyOf": [{ "$ref": to }, { "$ref": to }] } });
    for depth in [5, 10, 30] {
        let value = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        cases.push(case(format!("items that double {depth} times"), double(depth, &deeper), value));
    }
    let nested = |lead: &str, close: &str, depth: usize, leaf: &str| {
        format!("{}{leaf}{}", lead.repeat(depth), close.repeat(depth))
    };
    let tree = json!({ "anyOf": [{ "type": "integer" }, { "items": { "$ref": "#" } }, { "items": { "$ref": "#" } }, { "properties": { "a": { "$ref": "#" } } }] });
    cases.push(case("a tree of alternatives, deep", tree.clone(), nested("[", "]", 60, "\"x\"")));
    cases.push(case("a tree of alternatives, wide", tree.clone(), array_of("[\"x\"]")));
    let dynamic = json!({ "$dynamicAnchor": "n", "anyOf": [{ "type": "integer" }, { "items": { "$dynamicRef": "#n" }, "type": "array" }, { "additionalProperties": { "$dynamicRef": "#n" } }] });
    cases.push(case("dynamic references, deep", dynamic.clone(), nested("[", "]", 60, "\"x\"")));
    cases.push(case("dynamic references, wide", dynamic.clone(), array_of("[[\"x\"]]")));
    for (size, name) in [(64, "a 64th"), (16, "a 16th"), (4, "a quarter")] {
        let wide = |item: &str| {
            let count = MESSAGE / size / (item.len() + 1);
            format!("[{}]", vec![item; count].join(","))
        };
        cases.push(case(format!("a tree of alternatives, {name}"), tree.clone(), wide("[\"x\"]")));
        cases.push(case(format!("a tree that fits, {name}"), tree.clone(), wide("[[1],[2,[3]]]")));
        cases.push(case(format!("dynamic references, {name}"), dynamic.clone(), wide("[[\"x\"]]")));
        let grammar: Vec<Value> = (0..12)
            .map(|n| json!({ "properties": { "t": { "const": n }, "a": { "$ref": "#" }, "b": { "$ref": "#" } }, "required": ["t"] }))
            .collect();
        let grammar = json!({ "anyOf": grammar });
        let deep = (0..6).fold("{\"t\":11}".to_owned(), |inner, _| {
            format!("{{\"t\":11,\"a\":{inner},\"b\":{inner}}}")
        });
        let name = format!("a grammar, {name}");
        cases.push(case(name.clone(), json!({ "items": grammar.clone() }), wide(&deep)));
        let other = deep.replace("\"t\":11}", "\"t\":99}");
        cases.push(case(
            format!("{name}, that does not fit"),
            json!({ "items": grammar }),
            wide(&other),
        ));
    }
    cases.push(case("unevaluated all the way", json!({ "$ref": "#/$defs/n", "$defs": { "n": { "allOf": [{ "properties": { "a": { "$ref": "#/$defs/n" } } }], "unevaluatedProperties": false } } }), nested("{\"a\":", "}", 60, "{\"b\":1}")));
    cases.push(case("not not not", nested_not(60), "1"));
    cases.push(case("round in place", json!({ "$ref": "#/$defs/a", "$defs": { "a": { "allOf": [{ "$ref": "#/$defs/b" }] }, "b": { "anyOf": [{ "$ref": "#/$defs/a" }] } } }), "1"));
    cases
}

fn nested_not(depth: usize) -> Value {
    (0..depth).fold(json!({ "type": "integer" }), |inner, _| json!({ "not": inner }))
}

fn milliseconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let clock = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
    };
    let began = clock();
    let done = work();
    (done, clock() - began)
}

#[test]
fn hostile_schemas_are_refused_or_quick() {
    let cases = [patterns(), shapes(), references()].into_iter().flatten();
    let (mut passed, mut failed, mut refused) = (0, 0, 0);
    let mut slowest = Vec::new();
    for Case { name, schema, value } in cases {
        let (compiled, compiling) = milliseconds(|| Schema::compile(&schema));
        let reading = milliseconds(|| serde_json::from_str::<Value>(&value)).1;
        let (took, how) = match compiled {
            Err(error) => {
                refused += 1;
                (compiling, format!("refused: {error}"))
            }
            Ok(schema) => {
                let (answer, checking) = milliseconds(|| schema.check(&value));
                (
                    compiling.max(checking),
                    format!(
                        "compiled in {compiling:.2}, read in {reading:.2}, checked in {checking:.2}: {}",
                        answer.map_or_else(
                            |why| why.chars().take(60).collect(),
                            |()| "fits".to_owned()
                        )
                    ),
                )
            }
        };
        if took <= MOST_MS {
            passed += 1;
        } else {
            failed += 1;
        }
        slowest.push((took, format!("{name}: {how}")));
    }
    slowest.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (took, words) in slowest.iter().take(40) {
        println!("{took:.2} ms: {words}");
    }
    println!(
        "hostile schemas: {passed} passed, {failed} failed; {refused} refused; worst {:.2} ms",
        slowest[0].0
    );
    assert_eq!(failed, 0);
}
