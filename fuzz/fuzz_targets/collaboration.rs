#![no_main]

switchboard_fuzz::target!(switchboard_doors::collaboration::fuzzing::collaboration);
