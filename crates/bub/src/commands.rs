//! The commands, one file each: its arguments and what it does.

mod agents;
mod backup;
mod completions;
mod dead_letters;
mod diagnostics;
mod man;
mod messages;
mod restart;
mod route;
mod rules;
mod send_message;
mod settings;
mod status;
mod subscribe;
mod tls;
mod token;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;

/// What `bub` can do.
#[derive(Subcommand)]
pub(crate) enum Command {
    SendMessage(send_message::SendMessage),
    Subscribe(subscribe::Subscribe),
    Status(status::Status),
    Agents(agents::Agents),
    Messages(messages::Messages),
    DeadLetters(dead_letters::DeadLetters),
    Route(route::Route),
    Rules(rules::Rules),
    Token(token::Token),
    Tls(tls::Tls),
    Backup(backup::Backup),
    Settings(settings::Settings),
    Diagnostics(diagnostics::Diagnostics),
    Restart(restart::Restart),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self {
            Self::SendMessage(command) => command.run().await,
            Self::Subscribe(command) => command.run().await,
            Self::Status(command) => command.run().await,
            Self::Agents(command) => command.run().await,
            Self::Messages(command) => command.run().await,
            Self::DeadLetters(command) => command.run().await,
            Self::Route(command) => command.run().await,
            Self::Rules(command) => command.run().await,
            Self::Token(command) => command.run().await,
            Self::Tls(command) => command.run(),
            Self::Backup(command) => command.run().await,
            Self::Settings(command) => command.run().await,
            Self::Diagnostics(command) => command.run().await,
            Self::Restart(command) => command.run().await,
            Self::Completions(command) => command.run(),
            Self::Man(command) => command.run(),
        }
    }
}

/// Resolves when the person presses Ctrl-C or the system asks the program to end.
async fn interrupted() -> Result<(), Failure> {
    Interrupts::listen()?.next().await;
    Ok(())
}

/// Ctrl-C, or the system's wish that the program ends. They no longer end it by themselves.
struct Interrupts {
    pressed: Signal,
    terminate: Signal,
}

impl Interrupts {
    fn listen() -> Result<Self, Failure> {
        let (pressed, terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { pressed, terminate })
    }

    /// The next one, also if it came before the question.
    async fn next(&mut self) {
        tokio::select! {
            _ = self.pressed.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// An argument that names one of our own values, by the name it has everywhere else.
fn one_of<T: Clone + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names = all.clone().map(name);
    PossibleValuesParser::new(names).try_map(move |given| {
        // Upper and lower case differ only where the argument says that they may.
        let is_given = |value: &&T| name((*value).clone()).eq_ignore_ascii_case(&given);
        let found = all.iter().find(is_given);
        found.cloned().ok_or("no such value")
    })
}
