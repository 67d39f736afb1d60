//! `bub man`: the manual page of this program as it is, every command on one page.

use std::io;

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;

use crate::Cli;
use crate::failure::Failure;
use crate::output;

/// Print the manual page, such as for `bub man | man -l -`
#[derive(Args)]
pub(crate) struct Man {}

impl Man {
    pub(crate) fn run(self) -> Result<(), Failure> {
        output::line(page(Cli::command())?.trim_end())
    }
}

fn page(mut program: Command) -> Result<String, Failure> {
    program.build();
    let whole = Page::new(program.clone()).manual("Switchboard");
    let mut text = rendered(|out| {
        whole.render_title(out)?;
        whole.render_name_section(out)
    })?;
    text.push_str(".SH SYNOPSIS\n\\fBbub\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH COMMANDS\n");
    for command in program.get_subcommands() {
        describe(command, &mut text)?;
    }
    text.push_str(".SH ENVIRONMENT AND EXIT STATUS\n.nf\n");
    text.push_str(&body(|out| whole.render_extra_section(out))?);
    text.push_str(".fi\n");
    Ok(text)
}

/// A section for each command that does something itself.
fn describe(command: &Command, text: &mut String) -> Result<(), Failure> {
    if command.get_name() == "help" {
        return Ok(());
    }
    let own = command.get_subcommands().any(|below| below.get_name() != "help");
    if !own {
        // Said once for all of them would be enough; said for each it hides what matters.
        let page = Page::new(command.clone().mut_arg("help", |help| help.hide(true)));
        let name = command.get_bin_name().unwrap_or(command.get_name());
        text.push_str(&format!(".SS \"{}\"\n", name.replace('-', "\\-")));
        text.push_str(&body(|out| page.render_description_section(out))?);
        text.push_str(".PP\n");
        text.push_str(&body(|out| page.render_synopsis_section(out))?);
        text.push_str(&body(|out| page.render_options_section(out))?);
        if command.get_after_help().is_some() {
            text.push_str(".PP\n.nf\n");
            text.push_str(&body(|out| page.render_extra_section(out))?);
            text.push_str(".fi\n");
        }
    }
    command.get_subcommands().try_for_each(|below| describe(below, text))
}

/// A section without its heading, for it stands under one of ours.
fn body(render: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Result<String, Failure> {
    let section = rendered(render)?;
    let is_heading = |line: &&str| [".SH", ".ie", ".el"].iter().any(|it| line.starts_with(it));
    let lines = section.lines().filter(|line| !is_heading(line));
    Ok(lines.map(|line| format!("{line}\n")).collect())
}

fn rendered(render: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Result<String, Failure> {
    let mut text = Vec::new();
    render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(command: &Command, found: &mut Vec<String>) {
        let below: Vec<_> =
            command.get_subcommands().filter(|below| below.get_name() != "help").collect();
        if below.is_empty() {
            found.push(command.get_bin_name().unwrap().to_owned());
        }
        below.into_iter().for_each(|below| leaves(below, found));
    }

    #[test]
    fn the_page_has_a_section_for_every_command_and_one_title() {
        let page = page(Cli::command()).unwrap();
        let mut program = Cli::command();
        program.build();
        let mut commands = Vec::new();
        leaves(&program, &mut commands);
        assert!(commands.contains(&"bub dead-letters replay".to_owned()), "{commands:?}");
        for command in commands {
            let heading = format!(".SS \"{}\"\n", command.replace('-', "\\-"));
            assert_eq!(page.matches(&heading).count(), 1, "{heading}");
        }
        assert_eq!(page.matches(".TH ").count(), 1);
    }
}
