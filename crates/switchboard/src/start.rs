//! Puts the rungs together, lowest first, and takes them apart in reverse.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware;
use axum::routing::get;
use switchboard_broker::{Broker, now};
use switchboard_console::api::{DemoSwitch, SpawnedList, Status};
use switchboard_console::{Console, Parts, Premises};
use switchboard_doors::discovery::{Desk, OwnDocument, listen_to_topic};
use switchboard_doors::guard::{self, Guard};
use switchboard_doors::{Entrance, listener};
use switchboard_store::Store;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::demo::Demo;
use crate::endpoint::EndpointFile;
use crate::finder::Voice;
use crate::forms::DoorForms;
use crate::handler::{DefaultHandler, Orders};
use crate::keys::Keys;
use crate::premises::{Finding, House};
use crate::settings::{InForce, Origin};
use crate::tls::OwnAgents;
use crate::traces::Traces;
use crate::troubles::Troubles;
use crate::{Options, Settings, StartError, identity, metrics, premises, secrets, tls};

/// Wishes to start or stop the demo that may wait. The operator waits when it is full.
const DEMO_WISHES: usize = 4;

/// How long connections have to take the goodbye.
const GOODBYES: Duration = Duration::from_secs(3);

/// A running broker with its doors and its console.
pub struct Running {
    url: String,
    console_url: String,
    console: Console,
    broker: Broker,
    core: JoinHandle<()>,
    /// Cancelled when the core has ended, by itself or not, or the listener.
    core_ended: CancellationToken,
    store: Store,
    /// No new connections.
    closed_to_new: CancellationToken,
    /// No connections at all.
    closing: CancellationToken,
    tasks: TaskTracker,
    demo: Demo,
    handler: DefaultHandler,
    finding: Arc<Finding>,
    traces: Traces,
    endpoint: EndpointFile,
    restart: CancellationToken,
    again: Again,
}

/// What a restart begins with.
struct Again {
    options: Options,
    port: u16,
    status: watch::Receiver<Status>,
}

/// Starts everything, and returns when agents can connect.
pub async fn start(options: Options) -> Result<Running, StartError> {
    let data_dir = options.data_dir()?;
    let origin = Origin {
        file: options.config.clone().unwrap_or_else(|| data_dir.join("switchboard.toml")),
        must_exist: options.config.is_some(),
        listen: options.listen.clone(),
        data_dir: data_dir.clone(),
    };
    let settings = origin.read()?;
    let address = settings.address()?;
    let tls = tls::open(&settings.tls, &data_dir)?;
    let own_agents = OwnAgents::of(&settings.tls, &data_dir);

    let opened = Store::open(&data_dir, &settings.store()).await?;
    let store = opened.store.clone();
    let place = match Place::take(&data_dir, address, &options, &settings, own_agents.port()).await
    {
        Ok(place) => place,
        Err(error) => {
            store.close().await;
            return Err(error);
        }
    };
    let Place { listener, address, url, token, keys, own, endpoint } = place;
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
    let finding = Arc::new(Finding::new(settings.discovery.clone()));
    // `wss` becomes `https`.
    let base = url.replacen("ws", "http", 1);
    let restart = CancellationToken::new();
    let (aacp, aacp_settings) = watch::channel(settings.aacp());
    let house = House {
        data_dir: data_dir.clone(),
        settings: InForce::new(origin, settings.clone()),
        editing: Mutex::default(),
        broker: broker.clone(),
        store: store.clone(),
        aacp,
        restart: restart.clone(),
        log: options.log.clone(),
        url: url.clone(),
        started_at: now(),
        keys: keys.clone(),
        tls: settings.tls.clone(),
        own: premises::own(&own, &base),
        reachable: !address.ip().is_loopback(),
        finding: finding.clone(),
    };
    let (status, demo_wishes, console) =
        desk(&broker, &store, &url, &data_dir, shown, most, Arc::new(house));
    let (hindered, hindrance) = watch::channel(None);
    let troubles = Troubles { disk: store.troubles(), panic: options.log.last_panic(), hindrance };
    tokio::spawn(troubles.tell(status.clone()));
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
    let discovery = Desk::new(entrance.clone(), keys.ring(), own.clone());
    tasks.spawn(listen_to_topic(discovery.clone()));
    tasks.spawn(keys.keep_current(closed_to_new.clone()));
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .merge(metrics::router(broker.clone(), store.clone(), &token))
        .merge(switchboard_doors::bus::router(entrance.clone()))
        .merge(switchboard_doors::lobby::router(entrance.clone()))
        .merge(switchboard_doors::collaboration::routes(entrance.clone()))
        .merge(switchboard_doors::aacp::router(entrance, aacp_settings))
        .merge(switchboard_doors::discovery::router(discovery.clone()))
        .merge(switchboard_console::http::router(console.clone(), &token, closing.clone()))
        .layer(middleware::from_fn_with_state(Guard::of(address, tls.clone()), guard::check));
    let stop = closed_to_new.clone();
    if let Some(tls) = tls.clone() {
        tasks.spawn(tls.keep_current(stop.clone()));
    }
    // A broker that nobody can reach any more has ended too.
    let told_at_the_end = core_ended.clone().drop_guard();
    let listening =
        listener::serve(listener, router, limits, tls.clone(), stop, tasks.clone(), hindered);
    tasks.spawn(async move {
        let _told_at_the_end = told_at_the_end;
        listening.await;
    });
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
    let voice = Voice {
        own,
        listen: address,
        tls: tls.is_some(),
        desk: discovery,
        status: status.clone(),
        data_dir: data_dir.clone(),
    };
    finding.start(voice).await;
    let again =
        Again { options: options.clone(), port: address.port(), status: status.subscribe() };
    let demo = Demo::new(url.clone(), own_agents, status, demo_wishes);
    if options.demo {
        demo.switch(true);
    }
    let console_url = format!("{base}/console/#token={token}");
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
        finding,
        traces,
        endpoint,
        restart,
        again,
    })
}

/// What must be had from the system before the broker can start.
struct Place {
    listener: TcpListener,
    address: SocketAddr,
    url: String,
    token: String,
    keys: Arc<Keys>,
    own: OwnDocument,
    endpoint: EndpointFile,
}

impl Place {
    async fn take(
        data_dir: &Path,
        address: SocketAddr,
        options: &Options,
        settings: &Settings,
        certificate: Option<&Path>,
    ) -> Result<Self, StartError> {
        let cannot_listen = |source| StartError::CannotListen { address, source };
        let listener = listen(address, options.port_before).await.map_err(cannot_listen)?;
        let address = listener.local_addr().map_err(cannot_listen)?;
        let scheme = if certificate.is_some() { "wss" } else { "ws" };
        let url = format!("{scheme}://{}", tls::local_address(address));
        let token = secrets::admin_token(data_dir)?;
        let keys = Arc::new(Keys::open(data_dir, &settings.jwt.keys)?);
        let id = identity::broker_id(data_dir)?;
        let identity_key = secrets::identity_key(data_dir)?;
        let own = identity::document(id, &url, &identity_key).map_err(StartError::ArgumentWrong)?;
        let endpoint = EndpointFile::write(data_dir, &url, certificate)?;
        Ok(Self { listener, address, url, token, keys, own, endpoint })
    }
}

/// Listens. Where any port will do, the one from before a restart is the best: those who were connected know it.
async fn listen(address: SocketAddr, port_before: Option<u16>) -> std::io::Result<TcpListener> {
    if let (0, Some(port)) = (address.port(), port_before)
        && let Ok(listener) = TcpListener::bind(SocketAddr::new(address.ip(), port)).await
    {
        return Ok(listener);
    }
    TcpListener::bind(address).await
}

/// The operator's desk, with what tells it how things stand.
fn desk(
    broker: &Broker,
    store: &Store,
    url: &str,
    data_dir: &Path,
    spawned: watch::Receiver<SpawnedList>,
    message_bytes: usize,
    premises: Arc<dyn Premises>,
) -> (watch::Sender<Status>, mpsc::Receiver<DemoSwitch>, Console) {
    let (status, status_changes) = watch::channel(Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        url: url.to_owned(),
        data_dir: data_dir.display().to_string(),
        started_at: now(),
        demo: false,
        mdns_peers: None,
        troubles: Vec::new(),
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
        forms: Arc::new(DoorForms),
        premises,
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

    /// Waits until the operator wants the program to start anew, with the settings as they are in the file. Whoever runs
    /// the broker then takes [`Running::again`], stops it and calls [`crate::start_again`].
    pub fn restart_wanted(&self) -> impl Future<Output = ()> + use<> {
        self.restart.clone().cancelled_owned()
    }

    /// The options to start anew with: those it was started with, on the same port, with the demo agents if they run.
    pub fn again(&self) -> Options {
        let Again { options, port, status } = &self.again;
        let demo = status.borrow().demo;
        Options { demo, port_before: Some(*port), ..options.clone() }
    }

    /// Stops in the reverse order: no new connections, no new messages, open answers awaited for a
    /// little, everything on disk, goodbye.
    pub async fn stop(self) {
        self.closed_to_new.cancel();
        self.demo.stop().await;
        self.handler.stop().await;
        self.finding.stop().await;
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
