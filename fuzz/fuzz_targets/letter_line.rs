#![no_main]

switchboard_fuzz::target!(switchboard_console::fuzzing::letter_line);
