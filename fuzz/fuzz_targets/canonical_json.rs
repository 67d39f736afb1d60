#![no_main]

switchboard_fuzz::target!(switchboard_trust::fuzzing::canonical_json);
