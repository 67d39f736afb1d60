#![no_main]

switchboard_fuzz::target!(switchboard_doors::lobby::fuzzing::lobby);
