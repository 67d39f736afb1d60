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

/// How long messages are, in bytes: as long as they may be, and shorter, because what is refused of a long one may
/// take longest in one that is just short enough. What is not optimised gets fewer.
const SIZES: &[usize] = if cfg!(debug_assertions) {
    &[1 << 14, 1 << 18]
} else {
    &[
        1 << 12,
        1 << 14,
        1 << 15,
        1 << 16,
        100_000,
        1 << 17,
        200_000,
        1 << 18,
        400_000,
        1 << 19,
        1 << 20,
    ]
};

/// Makes values of one size.
#[derive(Clone, Copy)]
struct Size(usize);

impl Size {
    /// An array of so many times this text.
    fn array_of(self, item: &str) -> String {
        let count = (self.0 - 2) / (item.len() + 1);
        format!("[{}]", vec![item; count].join(","))
    }

    /// An array of as many texts as fit that are made from their number.
    fn array_from(self, item: impl Fn(usize) -> String) -> String {
        let mut items = Vec::new();
        let mut length = 2;
        while length < self.0 {
            items.push(item(items.len()));
            length += items.last().map_or(0, String::len) + 1;
        }
        format!("[{}]", items.join(","))
    }

    /// An object with as many keys as fit.
    fn object_of(self, key: impl Fn(usize) -> String) -> String {
        let mut members = Vec::new();
        let mut length = 2;
        while length < self.0 {
            members.push(format!("{:?}:1", key(members.len())));
            length += members.last().map_or(0, String::len) + 1;
        }
        format!("{{{}}}", members.join(","))
    }

    fn text_of(self, piece: &str) -> String {
        json!(piece.repeat((self.0 - 2) / piece.len())).to_string()
    }
}

fn patterns(size: Size) -> Vec<Case> {
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
        for filler in ["a", "ab", "xyzz", "é"] {
            cases.push(case(
                format!("pattern: {name} in {filler}…"),
                json!({ "pattern": pattern }),
                size.text_of(filler),
            ));
        }
        let keys = json!({ "patternProperties": { pattern: { "type": "string" } } });
        let object = size.object_of(|n| format!("{}{n}", "a".repeat(80)));
        cases.push(case(format!("keys: {name}"), keys, object));
        cases.push(case(
            format!("many texts: {name}"),
            json!({ "items": { "pattern": pattern } }),
            size.array_of(&format!("\"{}\"", "a".repeat(40))),
        ));
    }
    let many: serde_json::Map<String, Value> =
        (0..100).map(|n| (format!("(a|b|c){{1,{n}}}x$"), json!({}))).collect();
    cases.push(case(
        "a hundred patterns for many keys",
        json!({ "patternProperties": many }),
        size.object_of(|n| format!("{}{n}", "abc".repeat(30))),
    ));
    let all: Vec<Value> =
        (0..90).map(|n| json!({ "pattern": format!("(a|b|c){{1,{n}}}[xy]{{5}}$") })).collect();
    cases.push(case("ninety patterns for one text", json!({ "allOf": all }), size.text_of("abc")));
    cases.push(case(
        "a giant alternation",
        json!({ "pattern": (0..5000).map(|n| format!("k{n}")).collect::<Vec<_>>().join("|") }),
        size.text_of("k"),
    ));
    let letters = ["(?i)[\\x{0}-\\x{10ffff}]", "(?i)[\\w]", "(?i)\\p{L}", "[\\p{L}\\p{N}]"];
    for letters in letters {
        let pattern = letters.repeat(60_000 / letters.len());
        cases.push(case(format!("as many {letters} as fit"), json!({ "pattern": pattern }), "1"));
    }
    let fitting: Vec<Value> =
        (0..90).map(|n| json!({ "pattern": format!("^[ab]*(c{{{n}}})?$") })).collect();
    cases.push(case("ninety patterns that fit", json!({ "allOf": fitting }), size.text_of("ab")));
    cases
}

fn shapes(size: Size) -> Vec<Case> {
    let array_of = |item: &str| size.array_of(item);
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
    let distinct = || size.array_from(|n| n.to_string());
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
        case("unique numbers", json!({ "uniqueItems": true }), distinct()),
        case(
            "unique objects",
            json!({ "uniqueItems": true }),
            size.array_from(|n| format!("{{\"a\":[{n}]}}")),
        ),
        case(
            "unique texts that begin alike",
            json!({ "uniqueItems": true }),
            size.array_from(|n| format!("\"{}{n:05}\"", "a".repeat(90))),
        ),
        case(
            "unique in unique",
            json!({ "uniqueItems": true, "items": { "uniqueItems": true } }),
            size.array_from(|n| format!("[{n},{}]", Size(3000).array_from(|n| n.to_string()))),
        ),
        case(
            "unevaluated items over alternatives",
            json!({ "anyOf": (0..60).map(|n| json!({ "prefixItems": [{ "const": n }] })).collect::<Vec<_>>(), "unevaluatedItems": { "type": "integer" } }),
            distinct(),
        ),
        case(
            "unevaluated properties",
            json!({ "anyOf": (0..60).map(|n| json!({ "properties": { format!("n{n}"): {} } })).collect::<Vec<_>>(), "unevaluatedProperties": { "type": "integer" } }),
            size.object_of(|n| format!("k{n}")),
        ),
        case(
            "names of properties",
            json!({ "propertyNames": { "enum": texts } }),
            size.object_of(|n| format!("aaaaaaaaaa{:05}{n}", n % 3000)),
        ),
        case(
            "a fraction to be a multiple of",
            json!({ "items": { "multipleOf": 0.000_000_1 } }),
            array_of("0.3"),
        ),
        case(
            "a number of many digits",
            json!({ "multipleOf": 3, "minimum": 1 }),
            "7".repeat(size.0),
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
            json!({ "allOf": (0..200).map(|n| json!({ "maxLength": size.0 + n })).collect::<Vec<_>>() }),
            size.text_of("é"),
        ),
        case(
            "a deep value",
            json!({ "items": { "$ref": "#" } }),
            format!("{}{}", "[".repeat(100), "]".repeat(100)),
        ),
    ]
}

fn references(size: Size) -> Vec<Case> {
    let array_of = |item: &str| size.array_of(item);
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
    let plain = json!({ "$dynamicAnchor": "n", "anyOf": [{ "type": "integer" }, { "items": { "$dynamicRef": "#n" }, "type": "array" }] });
    cases.push(case("plain dynamic references", plain, array_of("[[[\"x\"]]]")));
    cases.push(case("a tree that fits", tree.clone(), array_of("[[1],[2,[3]]]")));
    let referred =
        json!({ "anyOf": [{ "type": "integer" }, { "type": "array", "items": { "$ref": "#" } }] });
    cases.push(case("references, narrow and wide", referred, array_of("[[[\"x\"]]]")));
    let one_of = json!({ "oneOf": [{ "type": "integer" }, { "type": "array", "items": { "$ref": "#" } }, { "type": "object", "additionalProperties": { "$ref": "#" } }] });
    cases.push(case("one of each", one_of.clone(), array_of("[{\"a\":[\"x\"]}]")));
    cases.push(case("one of each, that fits", one_of, array_of("[{\"a\":[1]}]")));
    let grammar: Vec<Value> = (0..12)
        .map(|n| json!({ "properties": { "t": { "const": n }, "a": { "$ref": "#" }, "b": { "$ref": "#" } }, "required": ["t"] }))
        .collect();
    let grammar = json!({ "items": { "anyOf": grammar } });
    let deep = (0..6).fold("{\"t\":11}".to_owned(), |inner, _| {
        format!("{{\"t\":11,\"a\":{inner},\"b\":{inner}}}")
    });
    cases.push(case("a grammar", grammar.clone(), array_of(&deep)));
    let other = deep.replace("\"t\":11}", "\"t\":99}");
    cases.push(case("a grammar that does not fit", grammar, array_of(&other)));
    let many_kinds = json!({ "items": { "anyOf": (0..20).map(|n| json!({ "type": "object", "required": [format!("k{n}")] })).collect::<Vec<_>>() } });
    cases.push(case("alternatives of which none fits", many_kinds, array_of("{}")));
    let listed =
        json!({ "anyOf": [{ "items": { "type": "string" } }, { "items": { "type": "object" } }] });
    cases.push(case("alternatives that fail at every item", listed, array_of("1")));
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
    let cases = SIZES.iter().flat_map(|size| {
        let cases = [patterns, shapes, references].map(|cases| cases(Size(*size)));
        cases.into_iter().flatten().map(move |case| (*size, case))
    });
    let (mut passed, mut failed, mut refused) = (0, 0, 0);
    let mut slowest = Vec::new();
    for (size, Case { name, schema, value }) in cases {
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
        slowest.push((took, format!("{name}, {size} bytes: {how}")));
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
