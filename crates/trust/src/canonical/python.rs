//! The form that Python clients sign.

use crate::json::{self, Json, Malformed};

/// What `json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))` makes of the document
/// in Python, byte for byte: keys in the order of their code points, all but printable ASCII
/// escaped, whole numbers with all their digits. What is not JSON (`NaN`, half a surrogate pair) is
/// refused, though Python reads it.
pub fn python(text: &str) -> Result<String, Malformed> {
    let mut out = String::with_capacity(text.len());
    write(&json::read(text)?, &mut out);
    Ok(out)
}

fn write(value: &Json<'_>, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(text) => out.push_str(&number(text)),
        Json::Text(text) => string(text, out),
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                comma(index, out);
                write(item, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                comma(index, out);
                string(key, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}

fn comma(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

fn number(text: &str) -> String {
    match text.parse() {
        Ok(value) if json::is_float(text) => float(value),
        // The only whole number that has another spelling.
        _ if text == "-0" => "0".to_owned(),
        _ => text.to_owned(),
    }
}

/// As `repr` writes it: the fewest digits that read back as the same float; of those the closest;
/// of two equally close the even one.
fn float(value: f64) -> String {
    let fewest = format!("{value:e}");
    let (mantissa, exponent) = fewest.split_once('e').unwrap_or((&fewest, "0"));
    let places = mantissa.split_once('.').map_or(0, |(_, places)| places.len());
    let exponent: i32 = exponent.parse().unwrap_or(0);

    // Looking for the fewest digits, Rust does not care for the even one; told how many, it does.
    if (-4..16).contains(&exponent) {
        let places = i32::try_from(places).unwrap_or(0) - exponent;
        return format!("{value:.*}", usize::try_from(places).unwrap_or(0).max(1));
    }
    let closest = format!("{value:.places$e}");
    // Next to a power of two, the closest of so few digits may already be that of a neighbour.
    let closest = if closest.parse() == Ok(value) { closest } else { fewest.clone() };
    let mantissa = closest.split_once('e').map_or(mantissa, |(mantissa, _)| mantissa);
    format!("{mantissa}e{exponent:+03}")
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => escape(c, out),
        }
    }
    out.push('"');
}

fn escape(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}
