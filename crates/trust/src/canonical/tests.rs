//! Both forms against published vectors and against Python itself.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::fixtures;

#[test]
fn the_python_form_is_what_python_writes() {
    let table = fixtures::canonical();
    assert!(table.len() > 500, "a table worth the name");
    for [text, expected] in table {
        assert_eq!(python(&text).as_ref(), Ok(&expected), "{text}");
    }
}

/// The example of RFC 8785, section 3.2.2, with its result in section 3.2.3.
#[test]
fn the_example_of_the_rfc_comes_out_as_printed_there() {
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let numbers = "[333333333.3333333,1e+30,4.5,0.002,1e-27]";
    let string = r#""€$\u000f\nA'B\"\\\\\"/""#;
    let literals = "[null,true,false]";
    let expected = format!(r#"{{"literals":{literals},"numbers":{numbers},"string":{string}}}"#);
    assert_eq!(rfc8785(text).unwrap(), expected);
}

/// Section 3.2.3: UTF-16 units, so that an emoji comes before a Hebrew ligature, which code points
/// put last.
#[test]
fn keys_are_sorted_by_utf16_units_there_and_by_code_points_in_python() {
    let text = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#;
    let rfc = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}";
    assert_eq!(rfc8785(text).unwrap(), rfc);
    let by_code_point =
        r#"{"\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ufb33":3,"\ud83d\ude00":5}"#;
    assert_eq!(python(text).unwrap(), by_code_point);
}

/// Appendix B, by the bits of each float.
#[test]
fn numbers_are_written_as_the_rfc_lists_them() {
    let samples = [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];
    for (bits, expected) in samples {
        let text = format!("{:e}", f64::from_bits(bits));
        assert_eq!(rfc8785(&text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn large_whole_numbers_are_floats_for_the_rfc_and_keep_their_digits_in_python() {
    let text = "[9007199254740993, 123456789012345678901234567890]";
    assert_eq!(rfc8785(text).unwrap(), "[9007199254740992,1.2345678901234568e+29]");
    assert_eq!(python(text).unwrap(), "[9007199254740993,123456789012345678901234567890]");
    let huge = "9".repeat(400);
    assert_eq!(rfc8785(&huge), Err(Malformed::NumberTooLarge));
    assert_eq!(python(&huge), Ok(huge));
}

#[test]
fn half_a_surrogate_pair_has_no_form() {
    assert!(matches!(rfc8785(r#"["\ud800"]"#), Err(Malformed::Syntax(_))));
    assert!(matches!(python(r#"["\ud800"]"#), Err(Malformed::Syntax(_))));
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let members = proptest::collection::vec((any::<String>(), inner.clone()), 0..6);
        prop_oneof![
            proptest::collection::vec(inner, 0..6).prop_map(Value::from),
            members.prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The document with the keys of every object the other way round.
fn reversed(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let member =
                |(key, value)| format!("{}: {}", Value::from(key as &str), reversed(value));
            let members: Vec<_> = members.iter().map(|(k, v)| member((k, v))).rev().collect();
            format!("{{ {} }}", members.join(" ,\n"))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(reversed).collect::<Vec<_>>().join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

proptest! {
    #[test]
    fn a_canonical_form_is_its_own_and_means_the_same(document in document()) {
        let text = document.to_string();
        let rfc = rfc8785(&text).unwrap();
        prop_assert_eq!(rfc8785(&rfc).unwrap(), rfc);
        let python_form = python(&text).unwrap();
        prop_assert!(python_form.is_ascii());
        prop_assert_eq!(&python(&python_form).unwrap(), &python_form);
        prop_assert_eq!(serde_json::from_str::<Value>(&python_form).unwrap(), document);
    }

    #[test]
    fn the_order_of_keys_never_matters(document in document()) {
        let (text, other) = (document.to_string(), reversed(&document));
        prop_assert_eq!(rfc8785(&text), rfc8785(&other));
        prop_assert_eq!(python(&text), python(&other));
    }

    #[test]
    fn any_text_has_a_form_or_an_error(text in any::<String>()) {
        prop_assert_eq!(rfc8785(&text).is_ok(), python(&text).is_ok());
    }
}
