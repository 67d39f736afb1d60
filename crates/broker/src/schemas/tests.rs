use std::io::ErrorKind;
use std::net::TcpListener;

use super::*;
use proptest::prelude::*;
use serde_json::json;

#[expect(clippy::needless_pass_by_value, reason = "tests read better without the &")]
fn schema(schema: Value) -> Schema {
    Schema::compile(&schema).unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "tests read better without the &")]
fn refused(schema: Value) -> InvalidSchema {
    Schema::compile(&schema).err().expect("this schema must be refused")
}

fn fits(schema: &Schema, json: &str) -> bool {
    schema.check(json).is_ok()
}

#[test]
fn an_empty_schema_accepts_all_without_reading_it() {
    for all in [json!({}), json!(true)] {
        let all = schema(all);
        assert!(all.accepts_all() && fits(&all, "not even JSON"));
    }
    let none = schema(json!(false));
    assert!(!none.accepts_all() && !fits(&none, "1"));
    assert!(!schema(json!({"type": "string"})).accepts_all());
}

#[test]
fn each_draft_has_its_own_words() {
    let positive = |draft: &str, limit: Value| {
        let mut text = json!({"$schema": draft, "type": "integer", "minimum": 0});
        text["exclusiveMinimum"] = limit;
        schema(text)
    };
    let drafts = [
        ("http://json-schema.org/draft-04/schema#", json!(true)),
        ("http://json-schema.org/draft-06/schema#", json!(0)),
        ("http://json-schema.org/draft-07/schema#", json!(0)),
        ("https://json-schema.org/draft/2019-09/schema", json!(0)),
        ("https://json-schema.org/draft/2020-12/schema", json!(0)),
    ];
    for (draft, limit) in drafts {
        let positive = positive(draft, limit);
        assert!(fits(&positive, "1"), "{draft}");
        assert!(!fits(&positive, "0") && !fits(&positive, "\"1\""), "{draft}");
    }
    let tuple = |draft: &str, key: &str| {
        let mut text = json!({"$schema": draft});
        text[key] = json!([{"type": "string"}]);
        schema(text)
    };
    let old = tuple("http://json-schema.org/draft-07/schema#", "items");
    let new = tuple("https://json-schema.org/draft/2020-12/schema", "prefixItems");
    for tuple in [old, new] {
        assert!(fits(&tuple, r#"["a", 1]"#) && !fits(&tuple, "[1]"));
    }
    let conditional = schema(json!({
        "$schema": "http://json-schema.org/draft-07/schema",
        "if": {"required": ["a"]}, "then": {"required": ["b"]},
    }));
    assert!(fits(&conditional, r#"{"a":1,"b":2}"#) && !fits(&conditional, r#"{"a":1}"#));
    let anchored = schema(json!({
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$defs": {"x": {"$anchor": "name", "type": "string"}},
        "properties": {"a": {"$ref": "#name"}}, "unevaluatedProperties": false,
    }));
    assert!(fits(&anchored, r#"{"a":"b"}"#));
    assert!(!fits(&anchored, r#"{"a":1}"#) && !fits(&anchored, r#"{"b":1}"#));
}

#[test]
fn an_unknown_draft_is_refused() {
    for draft in ["http://json-schema.org/draft-03/schema#", "http://example.com/mine", "x"] {
        let refusal = refused(json!({"$schema": draft}));
        assert_eq!(refusal, InvalidSchema::UnknownDraft(draft.to_owned()));
    }
    assert_eq!(
        refused(json!({"$schema": "x"})).to_string(),
        "the schema's draft \"x\" is not known; use draft 4, 6, 7, 2019-09 or 2020-12"
    );
}

#[test]
fn a_fault_names_the_path_and_the_reason() {
    let order = schema(json!({
        "type": "object",
        "properties": {"items": {"items": {"properties": {"price": {"type": "number"}}}}},
        "required": ["name"],
    }));
    let said = order.check(r#"{"items":[{"price":"cheap"}]}"#).unwrap_err();
    let faults: Vec<&str> = said.split("; ").collect();
    assert_eq!(faults.len(), 2, "{said}");
    assert!(faults.contains(&r#"/items/0/price: "cheap" is not of type "number""#), "{said}");
    assert!(faults.contains(&r#"(root): "name" is a required property"#), "{said}");
    assert!(order.check("{").unwrap_err().starts_with("not readable as JSON: "));
}

#[test]
fn at_most_five_faults_are_told_and_long_values_are_shortened() {
    let numbers = schema(json!({"items": {"type": "number"}}));
    let said = numbers.check(&json!(vec!["x"; 100]).to_string()).unwrap_err();
    assert_eq!(said.split("; ").count(), 5, "{said}");
    let said = numbers.check(&json!(vec!["x"; 100_000]).to_string()).unwrap_err();
    assert_eq!(said, r#"/0: "x" is not of type "number""#, "in a large value the first");

    let said = numbers.check(&json!(["é".repeat(100_000)]).to_string()).unwrap_err();
    assert!(said.contains('…') && said.ends_with(r#"is not of type "number""#), "{said}");
    assert!(said.chars().count() < 120, "{said}");
    let strict = schema(json!({"additionalProperties": false}));
    let said = strict.check(&json!({"k".repeat(100_000): 1}).to_string()).unwrap_err();
    assert!(said.chars().count() < 300, "{said}");
}

#[test]
fn big_integers_are_compared_as_they_are() {
    let above = schema(json!({"type": "integer", "minimum": 9_007_199_254_740_993_u64}));
    assert!(fits(&above, "9007199254740993"));
    assert!(!fits(&above, "9007199254740992"), "these two are one as floating point");
    let most = schema(json!({"maximum": u64::MAX}));
    assert!(fits(&most, "18446744073709551615") && !fits(&most, "1e30"));
    let least = schema(json!({"minimum": i64::MIN}));
    assert!(fits(&least, "-9223372036854775808") && !fits(&least, "-1e30"));
    assert!(fits(&schema(json!({"type": "integer"})), "123456789012345678901234567890"));
}

#[test]
fn nothing_outside_is_ever_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let web = format!("http://{}/schema.json", listener.local_addr().unwrap());
    let here = format!("file://{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    for outside in [&web, &here] {
        let within = format!("{outside}#/definitions/x");
        let refusals = [
            json!({"$ref": outside}),
            json!({"$ref": within}),
            json!({"$dynamicRef": outside}),
            json!({"properties": {"a": {"items": [{"$recursiveRef": outside}]}}}),
            json!({"$defs": {"unused": {"$ref": outside}}}),
        ];
        for text in refusals {
            let refusal = refused(text.clone());
            assert!(matches!(refusal, InvalidSchema::Outside(_)), "{text}: {refusal}");
        }
        let refusal = refused(json!({"$schema": outside}));
        assert!(matches!(refusal, InvalidSchema::UnknownDraft(_)), "{refusal}");
        // Its own address is not looked up either.
        assert!(
            Schema::compile(&json!({"$id": outside, "$ref": "#/$defs/a", "$defs": {"a": {}}}))
                .is_ok()
        );
    }
    let nobody = listener.accept().unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::WouldBlock, "nobody has knocked");
}

#[test]
fn the_meta_schemas_are_outside_too() {
    for target in [
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/meta/core",
        "other.json",
        "#missing",
        "#/$defs/missing",
        "#%zz",
    ] {
        assert_eq!(refused(json!({"$ref": target})), InvalidSchema::Outside(target.to_owned()));
    }
}

#[test]
fn a_schema_may_refer_to_its_own_parts_by_every_name() {
    let text = json!({"type": "string"});
    for (target, whole) in [
        ("#/$defs/a%20b", json!({"$defs": {"a b": text}})),
        ("#/$defs/a~1b", json!({"$defs": {"a/b": text}})),
        ("#a", json!({"$defs": {"x": {"$anchor": "a", "type": "string"}}})),
        ("#/$defs/x", json!({"$id": "http://example.com/s/root.json", "$defs": {"x": text}})),
        (
            "x.json",
            json!({
                "$id": "http://example.com/s/root.json",
                "$defs": {"x": {"$id": "x.json", "type": "string"}},
            }),
        ),
        (
            "http://example.com/s/x.json",
            json!({
                "$id": "http://example.com/s/root.json",
                "$defs": {"x": {"$id": "/s/x.json", "type": "string"}},
            }),
        ),
        ("urn:x#/$defs/y", json!({"$defs": {"x": {"$id": "urn:x", "$defs": {"y": text}}}})),
        (
            "http://example.com/s/root.json#/$defs/x",
            json!({
                "$id": "http://example.com/s/root.json", "$defs": {"x": text},
            }),
        ),
    ] {
        let mut whole = whole;
        whole["properties"] = json!({"p": {"$ref": target}});
        let compiled = Schema::compile(&whole).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(fits(&compiled, r#"{"p":"text"}"#) && !fits(&compiled, r#"{"p":1}"#), "{target}");
    }
    let old = schema(json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "http://example.com/root.json",
        "definitions": {"x": {"id": "x.json", "type": "string"}, "y": {"id": "#y", "type": "null"}},
        "properties": {"p": {"$ref": "x.json"}, "q": {"$ref": "#y"}},
    }));
    assert!(fits(&old, r#"{"p":"text","q":null}"#));
    assert!(!fits(&old, r#"{"p":1}"#) && !fits(&old, r#"{"q":1}"#));
}

#[test]
fn a_member_may_be_called_like_a_keyword() {
    let odd = schema(json!({
        "properties": {"$ref": {"type": "string"}, "$id": {"type": "string"}, "allOf": {}},
    }));
    assert!(fits(&odd, r#"{"$ref":"http://example.com","$id":"x","allOf":1}"#));
    assert!(!fits(&odd, r#"{"$ref":1}"#));
    let many: Vec<Value> =
        (0..MAX_PATTERNS).map(|_| json!({"properties": {"pattern": {}}})).collect();
    assert!(Schema::compile(&json!({"prefixItems": many, "pattern": "a"})).is_ok());
}

#[test]
fn too_large_too_deep_and_wrong_schemas_are_refused() {
    let large = json!({"description": "x".repeat(MAX_BYTES)});
    assert_eq!(refused(large), InvalidSchema::TooLarge);

    let nested = |levels: usize| {
        let mut text = json!({"type": "string"});
        for _ in 1..levels {
            text = json!({"items": text});
        }
        text
    };
    assert!(Schema::compile(&nested(MAX_LEVELS)).is_ok());
    assert_eq!(refused(nested(MAX_LEVELS + 1)), InvalidSchema::TooDeep);

    let patterns: Vec<Value> =
        (0..=MAX_PATTERNS).map(|n| json!({"pattern": n.to_string()})).collect();
    assert_eq!(
        refused(json!({"$defs": {"x": {"prefixItems": patterns}}})),
        InvalidSchema::TooManyPatterns
    );

    for (wrong, because) in [
        (json!({"type": "nonsense"}), "/type: \"nonsense\" is not valid"),
        (json!({"minimum": "low"}), "/minimum: \"low\" is not of type"),
        (json!({"pattern": "("}), "pattern"),
        (json!({"pattern": "(?=a)b"}), "pattern"),
        (json!({"pattern": r"\p{L}{500}{500}"}), "pattern"),
        (json!(["a"]), "(root)"),
        (json!("a"), "(root)"),
        (json!(null), "(root)"),
    ] {
        let InvalidSchema::Wrong(said) = refused(wrong.clone()) else {
            panic!("{wrong} is wrong in itself");
        };
        assert!(said.contains(because), "{wrong}: {said}");
    }
}

#[test]
fn a_recursive_schema_ends_with_the_value() {
    let tree = schema(json!({
        "type": "object",
        "properties": {"child": {"$ref": "#"}, "children": {"items": {"$ref": "#"}}},
    }));
    let deep = |inside: &str, levels: usize| {
        format!("{}{inside}{}", r#"{"child":"#.repeat(levels), "}".repeat(levels))
    };
    assert!(fits(&tree, &deep("{}", 120)));
    let said = tree.check(&deep("1", 120)).unwrap_err();
    assert!(said.starts_with("/child/child/"), "{said}");
    assert!(tree.check(&deep("{}", 5000)).unwrap_err().contains("recursion limit"));
    for endless in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"type": "object"}, {"not": {"$ref": "#"}}]}),
        json!({
            "$ref": "#/$defs/a",
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}},
        }),
    ] {
        assert_eq!(refused(endless), InvalidSchema::Endless);
    }
    let dynamic = schema(json!({
        "$dynamicAnchor": "node", "type": "object", "additionalProperties": {"$dynamicRef": "#node"},
    }));
    assert!(fits(&dynamic, &deep("{}", 120)) && !fits(&dynamic, &deep("1", 120)));
}

/// A schema in which each part leads twice to the next one, in this way.
fn doubling(parts: usize, lead: impl Fn(&Value) -> Value) -> Value {
    let mut defs = serde_json::Map::new();
    for n in 0..parts {
        let next = if n + 1 == parts {
            json!({"type": "object"})
        } else {
            lead(&json!({"$ref": format!("#/$defs/d{}", n + 1)}))
        };
        defs.insert(format!("d{n}"), next);
    }
    json!({"$ref": "#/$defs/d0", "$defs": defs})
}

#[test]
fn a_schema_that_doubles_its_work_with_each_part_is_refused() {
    let in_place = |next: &Value| json!({"allOf": [next, next]});
    assert_eq!(refused(doubling(40, in_place)), InvalidSchema::TooInvolved);
    assert!(Schema::compile(&doubling(5, in_place)).is_ok());
    let deeper =
        |next: &Value| json!({"allOf": [{"properties": {"a": next}}, {"properties": {"a": next}}]});
    assert_eq!(refused(doubling(40, deeper)), InvalidSchema::TooInvolved);
    let again = |next: &Value| json!({"anyOf": [next], "unevaluatedProperties": false});
    assert_eq!(refused(doubling(20, again)), InvalidSchema::TooInvolved);
    let chain = |next: &Value| next.clone();
    assert_eq!(refused(doubling(1500, chain)), InvalidSchema::TooInvolved);
}

#[test]
fn many_types_that_refer_to_each_other_are_fine() {
    let names: Vec<String> = (0..40).map(|n| format!("t{n}")).collect();
    let members: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| (name.clone(), json!({"$ref": format!("#/$defs/{name}")})))
        .collect();
    let defs: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| (name.clone(), json!({"type": "object", "properties": members})))
        .collect();
    let dense = json!({"$ref": "#/$defs/t0", "$defs": defs});
    assert!(dense.to_string().len() < MAX_BYTES);
    let dense = schema(dense);
    assert!(fits(&dense, r#"{"t3":{"t7":{"t0":{}}}}"#));
    let said = dense.check(r#"{"t3":{"t7":{"t0":1}}}"#).unwrap_err();
    assert_eq!(said, r#"/t3/t7/t0: 1 is not of type "object""#);
}

#[test]
fn a_value_that_is_asked_about_again_and_again_has_an_answer_all_the_same() {
    // Naively, 2 to the power of 100 questions.
    let twice = schema(json!({
        "type": "object",
        "properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}},
        "additionalProperties": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        "patternProperties": {"^a": {"$ref": "#"}},
    }));
    for key in ["a", "b"] {
        let deep = |inside: &str| {
            format!("{}{inside}{}", format!(r#"{{"{key}":"#).repeat(100), "}".repeat(100))
        };
        assert!(fits(&twice, &deep("{}")), "{key}");
        let said = twice.check(&deep("1")).unwrap_err();
        assert_eq!(said, UNTOLD);
    }
    let said = twice.check(r#"{"a":1}"#).unwrap_err();
    assert!(said.starts_with(r#"/a: 1 is not of type "object""#), "{said}");
}

#[test]
fn a_check_that_would_take_too_long_is_not_begun() {
    let parts: Vec<Value> = (0..400).map(|n| json!({"not": {"const": n}})).collect();
    let slow = schema(json!({"items": {"allOf": parts}}));
    assert!(fits(&slow, &json!(vec![-1; 10]).to_string()));
    let said = slow.check(&json!(vec![-1; 100_000]).to_string()).unwrap_err();
    assert_eq!(said, "too large to be checked against this schema: 100001 values");
    let said = slow.check(&json!(vec![json!({}); 30_000]).to_string()).unwrap_err();
    assert_eq!(said, "too large to be checked: it has too many parts");

    // Each part of a ring leads twice to the next; what is remembered at one of them helps little.
    let ring = |parts: usize| {
        let mut defs = serde_json::Map::new();
        for n in 0..parts {
            let next = json!({"$ref": format!("#/$defs/d{}", (n + 1) % parts)});
            let next = json!({"properties": {"a": next}});
            defs.insert(format!("d{n}"), json!({"allOf": [next, next]}));
        }
        json!({"$ref": "#/$defs/d0", "$defs": defs})
    };
    assert_eq!(refused(ring(14)), InvalidSchema::TooInvolved);
    let deep = |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    assert!(fits(&schema(ring(9)), &deep(100)));
}

#[test]
fn what_takes_longer_than_other_questions_counts_for_more() {
    let objects: Vec<Value> = (0..2000).map(|n| json!({"a": {"b": n}})).collect();
    let names: serde_json::Map<String, Value> =
        (0..2000).map(|n| (format!("n{n}"), json!(["x"]))).collect();
    for slow in [
        json!({"items": {"enum": objects}}),
        json!({"items": {"dependentRequired": names}}),
        json!({"items": {"multipleOf": 0.01}}),
    ] {
        let slow = schema(slow);
        let said = slow.check(&json!(vec![json!({"a": 1}); 10_000]).to_string()).unwrap_err();
        assert!(said.starts_with("too large to be checked against this schema"), "{said}");
        assert!(!slow.check("[1, 2]").is_err_and(|said| said.starts_with("too large")));
    }
    let patterns: Vec<Value> =
        (0..90).map(|n| json!({"pattern": format!("^a*(b{{{n}}})?$")})).collect();
    let all = schema(json!({"allOf": patterns}));
    assert!(fits(&all, &json!("a".repeat(50_000)).to_string()));
    let said = all.check(&json!("a".repeat(500_000)).to_string()).unwrap_err();
    assert_eq!(said, "too large to be matched by 90 patterns: 500002 bytes");
    // A list of plain values is looked up, however long it is.
    let plain = schema(json!({"items": {"enum": (0..9000).collect::<Vec<u32>>()}}));
    assert!(fits(&plain, &json!(vec![8999; 100_000]).to_string()));
}

#[test]
fn a_long_way_and_a_deep_value_do_not_exhaust_the_stack() {
    let chain = |parts: usize| {
        let mut defs = serde_json::Map::new();
        for n in 0..parts {
            defs.insert(format!("d{n}"), json!({"$ref": format!("#/$defs/d{}", n + 1)}));
        }
        defs.insert(format!("d{parts}"), json!({"items": {"$ref": "#/$defs/d0"}}));
        schema(json!({"$ref": "#/$defs/d0", "$defs": defs}))
    };
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    // The stack of a worker thread is 2 MiB; a quarter of it has to do.
    let check = |schema: Schema, json: String| {
        let thread = std::thread::Builder::new().stack_size(512 * 1024);
        thread.spawn(move || schema.check(&json)).unwrap().join().unwrap()
    };
    let nested =
        (1..MAX_LEVELS / 2).fold(json!({"type": "array"}), |inner, _| json!({"allOf": [inner]}));
    let compiled = std::thread::Builder::new()
        .stack_size(1024 * 1024)
        .spawn(move || Schema::compile(&nested))
        .unwrap();
    assert_eq!(check(compiled.join().unwrap().unwrap(), deep(30)), Ok(()));
    assert_eq!(check(chain(5), deep(120)), Ok(()));
    assert_eq!(check(chain(60), deep(16)), Ok(()));
    assert!(check(chain(60), deep(120)).unwrap_err().starts_with("nested too deeply"));
}

#[test]
fn a_hostile_pattern_takes_linear_time() {
    for pattern in ["(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*x$"] {
        let hostile = schema(json!({"pattern": pattern}));
        let text = format!("\"{}!\"", "a".repeat(50_000));
        assert!(!fits(&hostile, &text), "{pattern}");
    }
    let named = schema(json!({"patternProperties": {"^(a+)+$": false}}));
    assert!(fits(&named, &json!({format!("{}!", "a".repeat(50_000)): 1}).to_string()));
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z#/$:]{0,6}".prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "$ref",
        "$id",
        "$defs",
        "$anchor",
        "$schema",
        "type",
        "allOf",
        "anyOf",
        "not",
        "items",
        "properties",
        "required",
        "enum",
        "minimum",
        "pattern",
        "a",
    ]);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(keys.clone().prop_map(str::to_owned), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_declared_and_asked_there_is_an_answer(declared in values(), asked in values()) {
        if let Ok(schema) = Schema::compile(&declared) {
            let said = schema.check(&asked.to_string());
            prop_assert!(said.is_ok() || !schema.accepts_all());
            prop_assert!(said.as_ref().err().is_none_or(|said| said.contains(": ")), "{said:?}");
        }
    }

    #[test]
    fn a_record_fits_exactly_if_its_members_do(
        name in prop::option::of("[a-z]{0,4}"),
        age in prop::option::of(-5_i64..5),
    ) {
        let person = schema(json!({
            "properties": {"name": {"minLength": 1}, "age": {"minimum": 0}},
            "required": ["name"],
        }));
        let mut record = json!({});
        if let Some(name) = &name {
            record["name"] = json!(name);
        }
        if let Some(age) = age {
            record["age"] = json!(age);
        }
        let expected = name.is_some_and(|name| !name.is_empty()) && age.is_none_or(|age| age >= 0);
        prop_assert_eq!(fits(&person, &record.to_string()), expected);
    }
}

#[test]
fn what_is_wrong_with_a_large_value_is_told_as_far_as_that_is_quick() {
    let names: Vec<String> = (0..50).map(|n| format!("n{n}")).collect();
    let strict = schema(json!({"items": {"required": names}}));
    let said = strict.check("[{}]").unwrap_err();
    assert_eq!(said.matches("is a required property").count(), MAX_FAULTS, "{said}");
    let said = strict.check(&json!(vec![json!({}); 1_000]).to_string()).unwrap_err();
    assert_eq!(said, r#"/0: "n0" is a required property"#, "only the first");

    let either = schema(json!({"anyOf": [{"items": {"type": "string"}}, {"type": "object"}]}));
    assert_ne!(either.check("[1]").unwrap_err(), UNTOLD);
    assert_eq!(either.check(&json!(vec![1; 10_000]).to_string()).unwrap_err(), UNTOLD);
}

#[test]
fn words_are_shortened_by_characters_wherever_they_are_cut_into_pieces() {
    assert_eq!(shortened("äöü", 3), "äöü");
    assert_eq!(shortened("äöü", 2), "äö…");
    assert_eq!(shortened(format_args!("{}{}{}", "ä", "öü", ""), 3), "äöü");
    assert_eq!(shortened(format_args!("{}{}", "äöü", "x"), 3), "äöü…");
    assert_eq!(shortened("", 0), "");
}
