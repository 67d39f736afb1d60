#![no_main]

switchboard_fuzz::target!(switchboard_broker::fuzzing::schema);
