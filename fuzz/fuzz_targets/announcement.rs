#![no_main]

switchboard_fuzz::target!(switchboard_doors::discovery::fuzzing::announcement);
