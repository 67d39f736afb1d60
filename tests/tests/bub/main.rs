//! The programs `switchboardd` and `bub`, as a person or an agent at a shell meets them.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod agents;
mod broker;
mod bulk;
mod dead_letters;
mod house;
mod moving;
mod route;
mod rules;
mod talking;
mod tls;
mod tokens;
mod usage;
mod watching;
