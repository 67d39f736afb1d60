//! Reads JSON, and names the field where something is wrong.

use serde::Deserialize;

/// Reads a JSON object. What is wrong is told in words that begin with the field, where there is one.
pub(crate) fn from_slice<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, String> {
    // What is derived would read an array as well, its items as the fields in their order.
    if json.trim_ascii_start().first() == Some(&b'[') {
        return Err("this must be an object, not an array".to_owned());
    }
    // To know the field costs as much as to read, and most of what comes is as it should be.
    serde_json::from_slice(json).or_else(|_| with_field(json))
}

fn with_field<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, String> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        if path == "." { error.inner().to_string() } else { format!("{path}: {}", error.inner()) }
    })?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(read)
}
