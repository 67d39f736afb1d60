//! Shows notifications on the desktop, and opens what one is about when it is clicked.

use tauri::AppHandle;
use tokio::sync::mpsc;

use crate::news::Notice;

/// Notifications on their way to the desktop. There are at most four kinds, each once a minute, so this
/// is never full while the desktop answers; when it does not, further ones are left out.
const ON_THE_WAY: usize = 8;

/// Where notifications go.
pub(crate) struct Notifications {
    desk: mpsc::Sender<Notice>,
}

impl Notifications {
    /// Begins to show what comes.
    pub(crate) fn start(app: &AppHandle) -> Self {
        let (desk, notices) = mpsc::channel(ON_THE_WAY);
        tauri::async_runtime::spawn(system::show_all(app.clone(), notices));
        Self { desk }
    }

    /// Shows it, where the desktop can.
    pub(crate) fn show(&self, notice: Notice) {
        if self.desk.try_send(notice).is_err() {
            tracing::debug!("a notification is left out: the desktop does not show them");
        }
    }
}

/// The freedesktop service, on the session bus. One connection, because clicks are told to the one that
/// asked.
#[cfg(target_os = "linux")]
mod system {
    use std::collections::{BTreeMap, HashMap};

    use futures_util::StreamExt;
    use tauri::AppHandle;
    use tokio::sync::mpsc;
    use zbus::zvariant::Value;

    use crate::news::{About, Notice};
    use crate::{links, tray};

    const NAME: &str = "Switchboard";
    /// What the desktop calls a click on the notification itself.
    const CLICK: &str = "default";

    #[zbus::proxy(
        interface = "org.freedesktop.Notifications",
        default_service = "org.freedesktop.Notifications",
        default_path = "/org/freedesktop/Notifications",
        gen_blocking = false
    )]
    trait Desktop {
        #[expect(clippy::too_many_arguments, reason = "the service's own")]
        fn notify(
            &self,
            app_name: &str,
            replaces: u32,
            icon: &str,
            title: &str,
            body: &str,
            actions: &[&str],
            hints: HashMap<&str, Value<'_>>,
            expires_ms: i32,
        ) -> zbus::Result<u32>;

        #[zbus(signal)]
        fn action_invoked(&self, id: u32, action: String) -> zbus::Result<()>;
    }

    pub(super) async fn show_all(app: AppHandle, mut notices: mpsc::Receiver<Notice>) {
        let mut said = false;
        // Nothing is asked of the bus before there is something to show.
        while let Some(first) = notices.recv().await {
            if !tray::has_session_bus() {
                tracing::info!("no session bus, so no notifications");
                return;
            }
            match serve(&app, first, &mut notices).await {
                Ok(()) => return,
                Err(error) if !said => {
                    said = true;
                    tracing::info!(%error, "the desktop shows no notifications");
                }
                Err(_) => {}
            }
        }
    }

    async fn serve(
        app: &AppHandle,
        first: Notice,
        notices: &mut mpsc::Receiver<Notice>,
    ) -> zbus::Result<()> {
        let connection = zbus::Connection::session().await?;
        let desktop = DesktopProxy::new(&connection).await?;
        let mut clicks = desktop.receive_action_invoked().await?;
        let mut shown = BTreeMap::new();
        show(&desktop, &first, &mut shown).await?;
        loop {
            tokio::select! {
                notice = notices.recv() => match notice {
                    Some(notice) => show(&desktop, &notice, &mut shown).await?,
                    None => return Ok(()),
                },
                click = clicks.next() => match click {
                    Some(click) => clicked(app, click.args()?.id, &shown),
                    // The bus is gone; the next notification looks for it anew.
                    None => return Err(zbus::Error::InvalidReply),
                },
            }
        }
    }

    /// Shows it in the place of the last one about the same.
    async fn show(
        desktop: &DesktopProxy<'_>,
        notice: &Notice,
        shown: &mut BTreeMap<About, u32>,
    ) -> zbus::Result<()> {
        let replaces = shown.get(&notice.about).copied().unwrap_or(0);
        let hints = HashMap::from([
            ("desktop-entry", Value::from("switchboard")),
            ("category", Value::from("im.error")),
        ]);
        let id = desktop
            .notify(
                NAME,
                replaces,
                "switchboard",
                &notice.title,
                &notice.body,
                &[CLICK, "Open"],
                hints,
                -1,
            )
            .await?;
        shown.insert(notice.about, id);
        Ok(())
    }

    /// Everyone on the bus hears of every click; only those on ours count.
    fn clicked(app: &AppHandle, id: u32, shown: &BTreeMap<About, u32>) {
        if let Some((about, _)) = shown.iter().find(|(_, shown)| **shown == id) {
            links::open_screen(app, about.screen());
        }
    }
}

/// Elsewhere by the system's own means.
#[cfg(not(target_os = "linux"))]
mod system {
    use tauri::AppHandle;
    use tokio::sync::mpsc;

    use crate::news::Notice;

    pub(super) async fn show_all(_app: AppHandle, mut notices: mpsc::Receiver<Notice>) {
        while let Some(notice) = notices.recv().await {
            let shown = notify_rust::Notification::new()
                .appname("Switchboard")
                .summary(&notice.title)
                .body(&notice.body)
                .show();
            if let Err(error) = shown {
                tracing::info!(%error, "the desktop shows no notifications");
            }
        }
    }
}
