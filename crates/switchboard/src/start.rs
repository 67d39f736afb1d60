//! Puts the rungs together, lowest first, and takes them apart in reverse.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::middleware;
use axum::routing::get;
use switchboard_broker::{Broker, JwtKey, now};
use switchboard_console::api::{DemoSwitch, SpawnedList, Status};
use switchboard_console::{Console, Parts};
use switchboard_discovery::Discovery;
use switchboard_doors::guard::{self, Guard};
use switchboard_doors::{Entrance, listener};
use switchboard_model::AgentId;
use switchboard_store::Store;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::demo::Demo;
use crate::endpoint::EndpointFile;
use crate::handler::{DefaultHandler, Orders};
use crate::tls::OwnAgents;
use crate::traces::Traces;
use crate::{Options, Settings, StartError, identity, metrics, secrets, tls};

/// Wishes to start or stop the demo that may wait. The operator waits when it is full.
const DEMO_WISHES: usize = 4;

/// How long connections have to take the goodbye.
const GOODBYES: Duration = Duration::from_secs(3);
/// For how long others may believe in this broker without hearing from it.
const ANNOUNCED_FOR: Duration = Duration::from_secs(10);

/// A running broker with its doors and its console.
pub struct Running {
    url: String,
    console_url: String,
    console: Console,
    broker: Broker,
    core: JoinHandle<()>,
    /// Cancelled when the core has ended, by itself or not.
    core_ended: CancellationToken,
    store: Store,
    /// No new connections.
    closed_to_new: CancellationToken,
    /// No connections at all.
    closing: CancellationToken,
    tasks: TaskTracker,
    demo: Demo,
    handler: DefaultHandler,
    discovery: Option<Discovery>,
    traces: Traces,
    endpoint: EndpointFile,
}

/// Starts everything, and returns when agents can connect.
pub async fn start(options: Options) -> Result<Running, StartError> {
    let data_dir = options.data_dir()?;
    let mut settings = match &options.config {
        Some(path) => Settings::read(path, true)?,
        None => Settings::read(&data_dir.join("switchboard.toml"), false)?,
    };
    if let Some(listen) = options.listen {
        settings.listen = listen;
    }
    let address = settings.address()?;
    let tls = tls::open(&settings.tls, &data_dir)?;
    let own_agents = OwnAgents::of(&settings.tls, &data_dir);

    let opened = Store::open(&data_dir, &settings.store()).await?;
    let store = opened.store.clone();
    let place = match Place::take(&data_dir, address, own_agents.port()).await {
        Ok(place) => place,
        Err(error) => {
            store.close().await;
            return Err(error);
        }
    };
    let Place { listener, address, url, token, jwt_key, id, endpoint } = place;
    let (broker, core) = Broker::start(settings.broker(), opened).await;
    let core_ended = CancellationToken::new();
    let told_at_the_end = core_ended.clone().drop_guard();
    let core = tokio::spawn(async move {
        let _told_at_the_end = told_at_the_end;
        if let Err(error) = core.await {
            tracing::error!(%error, "the core failed");
        }
    });

    let (spawned, shown) = watch::channel(SpawnedList { enabled: false, agents: Vec::new() });
    let most = settings.limits.message_bytes;
    let (status, demo_wishes, console) =
        desk(&broker, &store, &url, &data_dir, shown, most, jwt_key);
    let closing = CancellationToken::new();
    let closed_to_new = CancellationToken::new();
    let tasks = TaskTracker::new();
    let limits = settings.door_limits();
    let entrance = Entrance {
        broker: broker.clone(),
        limits: limits.clone(),
        closing: closing.clone(),
        tasks: tasks.clone(),
    };
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .merge(metrics::router(broker.clone(), store.clone(), &token))
        .merge(switchboard_doors::bus::router(entrance.clone()))
        .merge(switchboard_doors::lobby::router(entrance.clone()))
        .merge(switchboard_doors::collaboration::routes(entrance))
        .merge(switchboard_console::http::router(console.clone(), &token, closing.clone()))
        .layer(middleware::from_fn_with_state(Guard::of(address, tls.clone()), guard::check));
    let stop = closed_to_new.clone();
    if let Some(tls) = tls.clone() {
        tasks.spawn(tls.keep_current(stop.clone()));
    }
    tasks.spawn(listener::serve(listener, router, limits, tls, stop, tasks.clone()));
    let traces = Traces::start(&settings.telemetry.otlp, &broker);

    let orders = Orders {
        command: settings.default_handler.command.clone(),
        max_children: settings.default_handler.max_children,
        timeout: Duration::from_millis(settings.delivery.timeout_ms),
        url: url.clone(),
        data_dir: data_dir.clone(),
        own_agents: own_agents.clone(),
        kept: Duration::from_secs(24 * 60 * 60) * settings.retention.days,
    };
    let handler = DefaultHandler::start(orders, broker.clone(), spawned)
        .await
        .map_err(|refusal| StartError::ArgumentWrong(refusal.to_string()))?;
    let discovery = discover(&settings, id, address, status.clone());
    let demo = Demo::new(url.clone(), own_agents, status, demo_wishes);
    if options.demo {
        demo.switch(true);
    }
    // `wss` becomes `https`.
    let console_url = format!("{}/console/#token={token}", url.replacen("ws", "http", 1));
    Ok(Running {
        url,
        console_url,
        console,
        broker,
        core,
        core_ended,
        store,
        closed_to_new,
        closing,
        tasks,
        demo,
        handler,
        discovery,
        traces,
        endpoint,
    })
}

/// What must be had from the system before the broker can start.
struct Place {
    listener: TcpListener,
    address: SocketAddr,
    url: String,
    token: String,
    jwt_key: JwtKey,
    id: AgentId,
    endpoint: EndpointFile,
}

impl Place {
    async fn take(
        data_dir: &Path,
        address: SocketAddr,
        certificate: Option<&Path>,
    ) -> Result<Self, StartError> {
        let cannot_listen = |source| StartError::CannotListen { address, source };
        let listener = TcpListener::bind(address).await.map_err(cannot_listen)?;
        let address = listener.local_addr().map_err(cannot_listen)?;
        let scheme = if certificate.is_some() { "wss" } else { "ws" };
        let url = format!("{scheme}://{}", tls::local_address(address));
        let token = secrets::admin_token(data_dir)?;
        let jwt_key = secrets::jwt_key(data_dir)?;
        let id = identity::broker_id(data_dir)?;
        let endpoint = EndpointFile::write(data_dir, &url, certificate)?;
        Ok(Self { listener, address, url, token, jwt_key, id, endpoint })
    }
}

/// The operator's desk, with what tells it how things stand.
fn desk(
    broker: &Broker,
    store: &Store,
    url: &str,
    data_dir: &Path,
    spawned: watch::Receiver<SpawnedList>,
    message_bytes: usize,
    jwt_key: JwtKey,
) -> (watch::Sender<Status>, mpsc::Receiver<DemoSwitch>, Console) {
    let (status, status_changes) = watch::channel(Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        url: url.to_owned(),
        data_dir: data_dir.display().to_string(),
        started_at: now(),
        demo: false,
        mdns_peers: None,
    });
    let (demo, demo_wishes) = mpsc::channel(DEMO_WISHES);
    let console = Console::new(Parts {
        broker: broker.clone(),
        store: store.clone(),
        status: status_changes,
        spawned,
        spawned_output: DefaultHandler::output_folder(data_dir),
        demo,
        message_bytes,
        jwt_key,
        importing: Mutex::new(()),
    });
    (status, demo_wishes, console)
}

impl Running {
    /// Where agents connect.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where a browser finds the console, with the operator's token.
    pub fn console_url(&self) -> &str {
        &self.console_url
    }

    /// The broker itself, for agents that live in this program.
    pub fn broker(&self) -> &Broker {
        &self.broker
    }

    /// The operator's desk.
    pub fn console(&self) -> Console {
        self.console.clone()
    }

    /// Waits until the broker has ended by itself, which it does only when it cannot go on.
    pub fn failed(&self) -> impl Future<Output = ()> + use<> {
        self.core_ended.clone().cancelled_owned()
    }

    /// Stops in the reverse order: no new connections, no new messages, open answers awaited for a
    /// little, everything on disk, goodbye.
    pub async fn stop(self) {
        self.closed_to_new.cancel();
        self.demo.stop().await;
        self.handler.stop().await;
        if let Some(discovery) = self.discovery {
            discovery.stop().await;
        }
        self.broker.stop().await;
        // It has told of its own failure.
        drop(self.core.await);
        self.traces.stop().await;
        self.closing.cancel();
        self.tasks.close();
        // Someone who neither reads nor goes does not keep the program from ending.
        if tokio::time::timeout(GOODBYES, self.tasks.wait()).await.is_err() {
            tracing::warn!(open = self.tasks.len(), "some connections did not take the goodbye");
        }
        self.store.close().await;
        drop(self.endpoint);
    }
}

/// Announces the broker and counts those who are seen. Failing to is no reason not to start.
fn discover(
    settings: &Settings,
    id: AgentId,
    address: SocketAddr,
    status: watch::Sender<Status>,
) -> Option<Discovery> {
    if !settings.discovery.mdns {
        return None;
    }
    let started = Discovery::start(&switchboard_discovery::Settings {
        interfaces: settings.discovery.interfaces.clone(),
        mdns_port: switchboard_discovery::MDNS_PORT,
        path: "/healthz".to_owned(),
        name: "Switchboard".to_owned(),
        id,
        listen: address,
        ttl: ANNOUNCED_FOR,
    });
    let (discovery, mut peers) = match started {
        Ok(started) => started,
        Err(error) => {
            tracing::warn!(%error, "this broker cannot be found by mDNS");
            return None;
        }
    };
    tokio::spawn(async move {
        loop {
            let seen = u32::try_from(peers.borrow_and_update().len()).unwrap_or(u32::MAX);
            status.send_modify(|status| status.mdns_peers = Some(seen));
            if peers.changed().await.is_err() {
                return;
            }
        }
    });
    Some(discovery)
}
