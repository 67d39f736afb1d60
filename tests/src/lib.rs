//! Behaviour from outside.
