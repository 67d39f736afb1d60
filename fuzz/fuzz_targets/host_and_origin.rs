#![no_main]

switchboard_fuzz::target!(switchboard_doors::guard::fuzzing::host_and_origin);
