#![no_main]

switchboard_fuzz::target!(switchboard_doors::aacp::fuzzing::aacp_message);
