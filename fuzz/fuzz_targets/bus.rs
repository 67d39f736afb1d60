#![no_main]

switchboard_fuzz::target!(switchboard_doors::bus::fuzzing::bus);
