#![no_main]

switchboard_fuzz::target!(switchboard_discovery::fuzzing::mdns_packet);
