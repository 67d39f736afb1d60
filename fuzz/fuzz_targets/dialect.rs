#![no_main]

switchboard_fuzz::target!(switchboard_model::fuzzing::dialect);
