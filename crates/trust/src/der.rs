//! Just enough DER to find a key in what contains it. The key itself is judged elsewhere.

/// The tag of a sequence.
pub(crate) const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
/// The tag of a certificate's version.
const VERSION: u8 = 0xa0;

/// What is left to read.
pub(crate) struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Takes the next element if it has this tag; returns what is in it.
    pub(crate) fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (found, header, length) = self.header()?;
        let end = header.checked_add(length)?;
        if found != tag || end > self.0.len() {
            return None;
        }
        let (element, rest) = self.0.split_at(end);
        self.0 = rest;
        element.get(header..)
    }

    /// Takes a positive number, without its sign.
    pub(crate) fn positive(&mut self) -> Option<&'a [u8]> {
        match self.take(INTEGER)? {
            // One zero byte keeps the sign off; more would be a second spelling.
            [0, rest @ ..] if matches!(rest, [0x80..=0xff, ..]) => Some(rest),
            bytes @ [1..=0x7f, ..] => Some(bytes),
            _ => None,
        }
    }

    /// Takes a string of whole bytes.
    pub(crate) fn bits(&mut self) -> Option<&'a [u8]> {
        self.take(BIT_STRING)?.strip_prefix(&[0])
    }

    /// Succeeds if nothing is left.
    pub(crate) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }

    /// Tag, length of the header and length of the content of the next element.
    fn header(&self) -> Option<(u8, usize, usize)> {
        match *self.0 {
            [tag, length @ ..=0x7f, ..] => Some((tag, 2, length.into())),
            [tag, 0x81, length @ 0x80..=0xff, ..] => Some((tag, 3, length.into())),
            [tag, 0x82, high @ 1..=0xff, low, ..] => {
                Some((tag, 4, u16::from_be_bytes([high, low]).into()))
            }
            // Longer than any key is allowed to be.
            _ => None,
        }
    }
}

/// The public key (SPKI) in an X.509 certificate. Nothing else of it is looked at.
pub(crate) fn key_of_certificate(certificate: &[u8]) -> Option<&[u8]> {
    let mut outer = Der::new(certificate);
    let mut signed = Der::new(outer.take(SEQUENCE)?);
    outer.end()?;
    let mut fields = Der::new(signed.take(SEQUENCE)?);
    // Only the first version of X.509 leaves its version out.
    fields.take(VERSION);
    fields.take(INTEGER)?;
    for _signature_issuer_validity_subject in 0..4 {
        fields.take(SEQUENCE)?;
    }
    let all = fields.0;
    fields.take(SEQUENCE)?;
    all.get(..all.len() - fields.0.len())
}

/// The parts of an SPKI: what kind of key, and the key.
pub(crate) fn parts_of_key(spki: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut outer = Der::new(spki);
    let mut inner = Der::new(outer.take(SEQUENCE)?);
    outer.end()?;
    let parts = (inner.take(SEQUENCE)?, inner.bits()?);
    inner.end()?;
    Some(parts)
}

/// An ECDSA signature as DER, from its two numbers side by side.
pub(crate) fn signature(numbers: &[u8]) -> Vec<u8> {
    let (r, s) = numbers.split_at(numbers.len() / 2);
    let content = [integer(r), integer(s)].concat();
    element(SEQUENCE, &content)
}

fn integer(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = bytes.get(zeros..).unwrap_or_default();
    let sign: &[u8] = if matches!(digits, [..=0x7f, ..]) { &[] } else { &[0] };
    element(INTEGER, &[sign, digits].concat())
}

/// Signatures of the curves in use stay below the length that needs a second byte.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).unwrap_or(u8::MAX);
    [&[tag, length], content].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_length_has_one_spelling() {
        assert_eq!(Der::new(&[0x30, 1, 9]).take(SEQUENCE), Some(&[9][..]));
        assert_eq!(Der::new(&[0x30, 0x81, 1, 9]).take(SEQUENCE), None);
        assert_eq!(Der::new(&[0x30, 0x82, 0, 0x80]).take(SEQUENCE), None);
        assert_eq!(Der::new(&[0x30, 0x80, 9, 0, 0]).take(SEQUENCE), None);
        assert_eq!(Der::new(&[0x30, 2, 9]).take(SEQUENCE), None, "shorter than it says");
        let long = [&[0x30, 0x81, 0x80][..], &[7; 0x80]].concat();
        assert_eq!(Der::new(&long).take(SEQUENCE), Some(&[7; 0x80][..]));
    }

    #[test]
    fn a_number_is_positive_and_has_one_spelling() {
        let positive = |bytes: &[u8]| Der::new(bytes).positive().map(<[u8]>::to_vec);
        assert_eq!(positive(&[2, 1, 3]), Some(vec![3]));
        assert_eq!(positive(&[2, 2, 0, 0x80]), Some(vec![0x80]));
        assert_eq!(positive(&[2, 2, 0, 0x7f]), None);
        assert_eq!(positive(&[2, 1, 0x80]), None);
        assert_eq!(positive(&[2, 1, 0]), None);
        assert_eq!(positive(&[2, 0]), None);
    }

    #[test]
    fn two_numbers_become_a_signature() {
        assert_eq!(signature(&[0, 5, 0x80, 1]), [0x30, 8, 2, 1, 5, 2, 3, 0, 0x80, 1]);
        assert_eq!(signature(&[0, 0]), [0x30, 6, 2, 1, 0, 2, 1, 0]);
    }

    proptest! {
        #[test]
        fn no_bytes_are_a_surprise(bytes in any::<Vec<u8>>()) {
            key_of_certificate(&bytes);
            parts_of_key(&bytes);
            signature(&bytes);
        }
    }
}
