#![no_main]

switchboard_fuzz::target!(switchboardd::fuzzing::settings);
