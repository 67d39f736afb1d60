//! The desktop app: a window and a tray around the broker that `switchboardd` runs without them.
//!
//! Read `main` first. `window` opens and shows the one window, `bridge` carries the console API
//! into it, `tray` and `closing` keep the broker running when the window is gone, `trouble` says
//! what went wrong when nothing could start. No behaviour lives here: whatever the window does, it
//! asks of the console.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod bridge;
mod closing;
mod graphics;
mod tray;
mod trouble;
mod window;

use std::process::ExitCode;

use clap::Parser;
use switchboardd::Options;
use tauri::{App, AppHandle, Manager, RunEvent};
use tokio::runtime::Runtime;

use crate::bridge::Bridge;
use crate::closing::Closing;
use crate::trouble::Trouble;

fn main() -> ExitCode {
    graphics::choose_renderer();
    switchboardd::log_to_stderr();
    let options = Options::parse();
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return Trouble::from(error).tell(),
    };
    match run(options, &runtime) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => trouble.tell(),
    }
}

/// Starts the broker, shows the window, and stops the broker when the app is quit.
fn run(options: Options, runtime: &Runtime) -> Result<(), Trouble> {
    trouble::need_a_display()?;
    tauri::async_runtime::set(runtime.handle().clone());
    let data_dir = options.data_dir()?;

    // The broker starts after the app is built, because a second app on the same folder ends there.
    let app = window::app(&data_dir)?;
    let running = match runtime.block_on(switchboardd::start(options)) {
        Ok(running) => running,
        Err(error) => return Err(Trouble::starting(&error, app)),
    };
    switchboardd::say(&format!("listening on {}\n", running.url()));
    app.manage(Bridge::new(running.console()));
    app.manage(Closing::remembered_in(&data_dir));
    let told = {
        let _on_runtime = runtime.enter();
        switchboardd::asked_to_stop()
    };
    runtime.spawn(quit_when_over(app.handle().clone(), told, running.failed()));
    show_until_quit(app);
    runtime.block_on(running.stop());
    Ok(())
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
        _ => {}
    });
}

/// Quits on SIGTERM and Ctrl-C, as by the menu; and when the broker cannot go on.
async fn quit_when_over(
    app: AppHandle,
    told: impl Future<Output = ()>,
    failed: impl Future<Output = ()>,
) {
    tokio::select! {
        () = told => {}
        () = failed => tracing::error!("the broker has ended, so the window closes"),
    }
    app.exit(0);
}
