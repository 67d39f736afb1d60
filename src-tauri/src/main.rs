//! The desktop app: a window and a tray around the broker that `switchboardd` runs without them.
//!
//! Read `main` first. `window` opens and shows the one window, `bridge` carries the console API
//! into it, `links` brings it to what a `switchboard://` link leads to. `tray` and `closing` keep the
//! broker running when the window is gone; `lookout` follows what happens meanwhile, `standing` puts it
//! into the tray's few words, `quick` is what the tray's menu does, `news` decides what is worth a
//! notification and `notifications` shows it; `runtime` is where the broker runs beside all that. `remembered` keeps the operator's wishes, `trouble` says
//! what went wrong when nothing could start. No behaviour of the broker lives here: whatever the
//! desktop does, it asks of the console.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod bridge;
mod closing;
mod downloads;
mod graphics;
mod links;
mod lookout;
mod news;
mod notifications;
mod quick;
mod remembered;
#[cfg(test)]
#[path = "../../fuzz/replay.rs"]
mod replay;
mod runtime;
mod standing;
mod tray;
mod trouble;
mod window;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use switchboardd::{Options, Running};
use tauri::{App, AppHandle, Manager, RunEvent};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::bridge::Bridge;
use crate::closing::Question;
use crate::downloads::Exports;
use crate::quick::Copied;
use crate::remembered::Remembered;
use crate::trouble::Trouble;

/// A message broker for AI agents, with a console that shows what they say to each other.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// A link to open, such as switchboard://message/ID
    #[arg(value_parser = links::parse)]
    link: Option<String>,
}

fn main() -> ExitCode {
    graphics::choose_renderer();
    let log = switchboardd::log_to_stderr();
    let mut arguments = Arguments::parse();
    arguments.options.log = log;
    let runtime = match runtime::beside_the_window() {
        Ok(runtime) => runtime,
        Err(error) => return Trouble::from(error).tell(),
    };
    match run(arguments, &runtime) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => trouble.tell(),
    }
}

/// Starts the broker, shows the window, and stops the broker when the app is quit.
fn run(arguments: Arguments, runtime: &Runtime) -> Result<(), Trouble> {
    let Arguments { options, link } = arguments;
    trouble::need_a_display()?;
    tauri::async_runtime::set(runtime.handle().clone());
    let data_dir = options.data_dir()?;
    // The system's links start Switchboard without arguments, so they lead to the user's own folder.
    let takes_links = options.data_dir.is_none();

    // The broker starts after the app is built, because a second app on the same folder ends there.
    let app = window::app(&data_dir)?;
    // By a thread of the runtime, whose priority the threads that it starts inherit.
    let running = match runtime.block_on(runtime.spawn(switchboardd::start(options))) {
        Ok(Ok(running)) => running,
        Ok(Err(error)) => return Err(Trouble::starting(&error, app)),
        Err(died) => return Err(Trouble::from(std::io::Error::other(died))),
    };
    switchboardd::say(&format!("listening on {}\n", running.url()));
    furnish(&app, &running, &data_dir);
    if let Some(link) = link {
        app.state::<Bridge>().open(link);
    }
    if takes_links && app.state::<Remembered>().wishes().links.unwrap_or(true) {
        let app = app.handle().clone();
        runtime.spawn_blocking(move || links::register(&app));
    }
    runtime.spawn(lookout::keep(app.handle().clone(), running.console()));
    let told = {
        let _on_runtime = runtime.enter();
        switchboardd::asked_to_stop()
    };
    let asked = (told, running.failed(), running.restart_wanted());
    let watching = runtime.spawn(quit_when_over(app.handle().clone(), asked));
    show_until_quit(app);
    let again = restart_asked(runtime, watching).then(|| running.again());
    runtime.block_on(running.stop());
    match again {
        Some(again) => Err(Trouble::restarting(&switchboardd::start_again(&again))),
        None => Ok(()),
    }
}

/// Puts into the app what its parts ask for.
fn furnish(app: &App, running: &Running, data_dir: &Path) {
    app.manage(Bridge::new(running.console()));
    app.manage(Exports::in_folder(data_dir));
    app.manage(running.console());
    app.manage(Remembered::read_from(data_dir));
    app.manage(Question::default());
    app.manage(Copied::default());
}

fn show_until_quit(app: App) {
    app.run_return(|app, event| match event {
        RunEvent::Ready => {
            tray::put_up(app);
            window::open(app);
        }
        RunEvent::WindowEvent {
            label,
            event: tauri::WindowEvent::CloseRequested { api, .. },
            ..
        } if label == window::LABEL => {
            api.prevent_close();
            closing::requested(app);
        }
        // Elsewhere a link is an argument of a second start.
        #[cfg(target_os = "macos")]
        RunEvent::Opened { urls } => {
            if let Some(Ok(link)) = urls.last().map(|url| links::parse(url.as_str())) {
                links::open(app, &link);
            }
        }
        _ => {}
    });
}

/// Quits on SIGTERM and Ctrl-C, as by the menu; when the broker cannot go on; and when the operator wants
/// it to start anew. Gives whether that was it.
async fn quit_when_over(
    app: AppHandle,
    (told, failed, restart): (impl Future, impl Future, impl Future),
) -> bool {
    let again = tokio::select! {
        _ = told => false,
        _ = restart => true,
        _ = failed => {
            tracing::error!("the broker has ended, so the window closes");
            false
        }
    };
    app.exit(0);
    again
}

/// Whether the app was quit to start anew. If it was quit by its menu, nobody has to watch any more.
fn restart_asked(runtime: &Runtime, watching: JoinHandle<bool>) -> bool {
    if !watching.is_finished() {
        watching.abort();
    }
    runtime.block_on(watching).unwrap_or(false)
}
