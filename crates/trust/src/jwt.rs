//! Signed tokens with scopes, for doors that want a JWT.
//!
//! Each key is for one algorithm, and nothing that a token's header says can change that: the
//! header only helps to find the key. Read `keyring` first; `key` and `algorithm` are what it
//! holds, `claims` what a token allows, `own` the one key that signs.

mod algorithm;
mod claims;
mod key;
mod keyring;
mod own;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use claims::Claims;
pub use key::{BadJwtKey, JwtKey};
pub use keyring::{JwtError, Keyring};
pub use own::{NotIssued, OwnKey, SCOPES};
