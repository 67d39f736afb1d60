//! Keys and signatures as text: PEM and base64.

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use rustls_pki_types::pem::{PemObject, SectionKind};

const ANY_PADDING: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Reads base64 as the many ways of writing it have it: either alphabet, padded or not, in lines or
/// not.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let standard = |c| match c {
        '-' => '+',
        '_' => '/',
        other => other,
    };
    let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).map(standard).collect();
    ANY_PADDING.decode(text).ok()
}

/// The sections of a PEM text; none if one of them is broken.
pub(crate) fn sections(text: &str) -> Option<Vec<(SectionKind, Vec<u8>)>> {
    PemObject::pem_slice_iter(text.as_bytes()).collect::<Result<_, _>>().ok()
}

/// One section, in lines of 64 characters.
pub(crate) fn section(label: &str, der: &[u8]) -> String {
    let mut text = format!("-----BEGIN {label}-----\n");
    // 48 bytes are 64 characters.
    for line in der.chunks(48) {
        STANDARD.encode_string(line, &mut text);
        text.push('\n');
    }
    text + "-----END " + label + "-----\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_people_write_it() {
        let bytes = Some(vec![0xfb, 0xff, 0xfe, 0xff]);
        for text in ["+//+/w==", "-__-_w", "+//+/w", "-__-_w==", "+//+\n/w==\n"] {
            assert_eq!(decode(text), bytes, "{text:?}");
        }
        for text in ["+//+/w=x", "+//+/x==", "ä", "A"] {
            assert_eq!(decode(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for length in [0, 1, 47, 48, 49, 96, 500] {
            let der = vec![7; length];
            let text = section("PUBLIC KEY", &der);
            assert!(text.lines().all(|line| line.len() <= 64));
            assert_eq!(sections(&text).unwrap(), [(SectionKind::PublicKey, der)]);
        }
    }
}
