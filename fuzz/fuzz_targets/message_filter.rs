#![no_main]

switchboard_fuzz::target!(switchboard_model::fuzzing::message_filter);
