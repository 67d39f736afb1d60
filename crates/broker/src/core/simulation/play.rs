//! A play: acts one after the other, and after each of them everything that must hold.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use switchboard_model::{
    Address, Again, AgentId, Answer, AttemptId, AttemptOutcome, Command, ConnectionId, Dialect,
    Door, Effect, JobAction, Join, Kind, LetterFilter, Message, MessageFilter, NewJob, Pattern,
    Payload, Policy, Priority, Replay, RuleEdit, RulePart, Send, Topic, Wait,
};
use tokio::sync::{mpsc, watch};

use super::acts::{AGENTS, Act, Listens, Said, Step, To, WATCHER};
use super::ledger::{Ledger, Tally, note};
use super::stage::{Stage, timeout};
use crate::broker::{Caller, Input, Outgoing};
use crate::route::UNROUTED;

struct Agent {
    id: AgentId,
    connected: Option<Connected>,
}

struct Connected {
    id: ConnectionId,
    outbox: mpsc::Receiver<Outgoing>,
    /// Deliveries that it has not answered.
    hands: Vec<InHand>,
    /// Attempts that it was asked for once.
    past: Vec<(AttemptId, u64)>,
}

struct InHand {
    attempt: AttemptId,
    seq: u64,
    since: Duration,
    /// It was asked as a default handler: that it takes care of the message is not to process it.
    unrouted: bool,
}

pub(super) struct Play {
    stage: Stage,
    agents: Vec<Agent>,
    ledger: Ledger,
    next_connection: u64,
}

/// Plays these steps on a broker of their own, to the end: then everyone is there and takes what comes, until
/// nothing is left. Returns how much happened, or what did not hold.
pub(super) async fn play(empty: &Path, steps: &[Step]) -> Result<Tally, String> {
    let agents = (0..AGENTS).map(|n| Agent { id: agent_id(n), connected: None }).collect();
    let ledger = Ledger::default();
    let mut play = Play { stage: Stage::new(empty).await, agents, ledger, next_connection: 1 };
    for (n, step) in steps.iter().enumerate() {
        play.act(step.act).await.map_err(|wrong| format!("act {n}, {:?}: {wrong}", step.act))?;
        play.stage.let_pass(step.act.takes());
        if !step.with_next {
            play.go_on().await.map_err(|wrong| format!("act {n}, {:?}: {wrong}", step.act))?;
        }
    }
    play.drain().await?;
    play.look_back().await?;
    Ok(play.ledger.tally)
}

fn agent_id(n: u8) -> AgentId {
    AgentId::parse(&format!("agent-{n}")).unwrap()
}

fn topic(n: u8) -> Topic {
    Topic::parse(&format!("work:{n}")).unwrap()
}

fn pattern(who: u8, listens: Listens) -> Pattern {
    let text = match listens {
        Listens::Itself => format!("agent:agent-{who}"),
        Listens::Topic(n) => topic(n).as_str().to_owned(),
        Listens::AllTopics => "work:*".to_owned(),
        Listens::Unrouted => UNROUTED.to_owned(),
    };
    Pattern::parse(&text).unwrap()
}

fn answer(said: Said) -> Answer {
    let (outcome, again) = match said {
        Said::Processed => (AttemptOutcome::Processed, Again::NotAsked),
        Said::Declined | Said::DeclinedAndStop => (AttemptOutcome::Declined, Again::NotAsked),
        Said::Again => (AttemptOutcome::Declined, Again::Soon),
        Said::AgainIn(seconds) => {
            (AttemptOutcome::Declined, Again::After(Duration::from_secs(u64::from(seconds))))
        }
        Said::Nonsense => (AttemptOutcome::InvalidAnswer, Again::NotAsked),
    };
    Answer {
        outcome,
        stop: matches!(said, Said::DeclinedAndStop),
        stops_only_on_request: false,
        again,
        message: None,
        payload: None,
    }
}

/// The number that a sender gave to its message.
fn number_of(message: &Message) -> usize {
    let payload: serde_json::Value = serde_json::from_str(message.payload.as_str()).unwrap();
    let n = payload["n"].as_u64().or_else(|| payload["payload"]["n"].as_u64());
    usize::try_from(n.unwrap()).unwrap()
}

/// Whether a default handler gets it, in the broker's words.
pub(super) fn is_offer(message: &Message) -> bool {
    message.payload.as_str().contains(r#""type":"unrouted""#)
}

impl Play {
    async fn act(&mut self, act: Act) -> Result<(), String> {
        match act {
            Act::Connect(who) => self.connect(who),
            Act::Vanish(who) => self.vanish(who),
            Act::Leave(who) => {
                if let Some(connected) = self.agents[usize::from(who)].connected.take() {
                    drop(self.stage.submit(Caller::Connection(connected.id), Command::Leave));
                    self.stage.input(Input::Gone(connected.id));
                }
            }
            Act::Subscribe(who, listens) => self.subscribe(who, listens),
            Act::Unsubscribe(who, listens) => {
                self.says(who, Command::Unsubscribe { pattern: pattern(who, listens) });
            }
            Act::Send { from, to, priority, expires, waits_for_answers } => {
                self.send(from, to, priority, expires, waits_for_answers);
            }
            Act::Answer(who, nth, said) => self.answer(who, nth, said),
            Act::AnswerLate(who, nth) => self.answer_late(who, nth),
            Act::Pass(_) => {}
            Act::Jump(minutes) => {
                self.ledger.tally.jumps += 1;
                self.stage.set_the_clock(minutes);
            }
            Act::Hear => self.hear().await?,
            Act::Disk { full } => {
                self.ledger.tally.disk_faults += u64::from(full);
                self.stage.fill_disk(full).await;
            }
            Act::Replay(nth) => self.replay(nth).await,
            Act::ReplayAll => self.job(JobAction::Replay { topic: None, per_second: None }),
            Act::DiscardAll => {
                self.ledger.discards = true;
                self.job(JobAction::Discard { note: String::new() });
            }
            Act::RestoreAll => self.job(JobAction::Restore),
            Act::Rule { caller, provider, deny } => self.rule(caller, provider, deny),
            Act::Crash => {
                self.ledger.tally.crashes += 1;
                self.ledger.hear_replies()?;
                self.stage.crash().await;
                self.everyone_is_cut_off(true);
            }
            Act::Restart => self.restart().await?,
        }
        Ok(())
    }

    /// The core takes what is there; then everything that must hold, must hold.
    async fn go_on(&mut self) -> Result<(), String> {
        let settled = self.settled();
        self.stage.pass().await;
        self.look(&settled)
    }

    async fn hear(&mut self) -> Result<(), String> {
        self.stage.flush().await;
        loop {
            let settled = self.settled();
            if !self.stage.hear_one().await {
                return Ok(());
            }
            self.look(&settled)?;
        }
    }

    fn settled(&self) -> HashSet<u64> {
        self.ledger.seen().filter(|seq| self.stage.is_settled(*seq)).collect()
    }

    /// Everyone reads what came; `settled` is what needed nobody any more before.
    fn look(&mut self, settled: &HashSet<u64>) -> Result<(), String> {
        let difference = self.stage.core().totals.difference();
        if difference != 0 {
            return Err(format!("{difference} messages are unaccounted for"));
        }
        // Who refuses first and delivers then is seen only if replies are read first.
        self.ledger.hear_replies()?;
        let now = self.stage.now();
        for (who, agent) in (0..).zip(&mut self.agents) {
            let Some(connected) = &mut agent.connected else { continue };
            while let Ok(Outgoing::Deliver { attempt, message }) = connected.outbox.try_recv() {
                let addressed = message.address.agent() == Some(&agent.id);
                let n = number_of(&message);
                self.ledger.delivered(who, attempt, &message, n, addressed)?;
                if who != WATCHER && settled.contains(&message.seq) {
                    return Err(format!(
                        "message {} was settled, and then handed to agent {who}",
                        message.seq
                    ));
                }
                connected.hands.push(InHand {
                    attempt,
                    seq: message.seq,
                    since: now,
                    unrouted: is_offer(&message),
                });
            }
        }
        Ok(())
    }

    fn says(&mut self, who: u8, command: Command) {
        if let Some(connected) = &self.agents[usize::from(who)].connected {
            drop(self.stage.submit(Caller::Connection(connected.id), command));
        }
    }

    fn connect(&mut self, who: u8) {
        let agent = &mut self.agents[usize::from(who)];
        if agent.connected.is_some() {
            return;
        }
        let id = ConnectionId(self.next_connection);
        self.next_connection += 1;
        let (outbox, inbox) = mpsc::channel(64);
        let (cut, _) = watch::channel(None);
        self.stage.input(Input::Connect { id, door: Door::Bus, from: None, outbox, cut });
        agent.connected =
            Some(Connected { id, outbox: inbox, hands: Vec::new(), past: Vec::new() });
        let join = Join::of(agent.id.clone(), "actor", "1");
        drop(self.stage.submit(Caller::Connection(id), Command::Join(join)));
    }

    fn vanish(&mut self, who: u8) {
        if let Some(connected) = self.agents[usize::from(who)].connected.take() {
            self.stage.input(Input::Gone(connected.id));
        }
    }

    fn subscribe(&mut self, who: u8, listens: Listens) {
        let policy = if who == WATCHER { Policy::ContinueAll } else { Policy::default() };
        let (pattern, policy) = (pattern(who, listens), Some(policy));
        self.says(who, Command::Subscribe { pattern, policy, filter: None });
    }

    fn send(&mut self, from: u8, to: To, priority: u8, expires: Option<u8>, answers: bool) {
        let Some(connected) = &self.agents[usize::from(from)].connected else { return };
        let caller = Caller::Connection(connected.id);
        let (address, kind) = match to {
            To::Agent(n) => (Address::Agent(agent_id(n)), Kind::Request),
            To::Topic(n) => (Address::Topic(topic(n)), Kind::Event),
        };
        let n = self.ledger.sent.len();
        let after = |seconds: u8| self.stage.wall().plus(Duration::from_secs(u64::from(seconds)));
        let send = Send {
            address,
            kind,
            capability: None,
            priority: Priority::ALL[usize::from(priority) % Priority::ALL.len()],
            correlation: None,
            conversation: None,
            payload: Payload::trusted(format!(r#"{{"type":"t","n":{n}}}"#)),
            dialect: Dialect::Bus,
            context: None,
            answer_within: None,
            expires_at: expires.map(after),
            wait: if answers { Wait::FirstAttempts } else { Wait::Accepted },
        };
        let reply = self.stage.submit(caller, Command::Send(send));
        self.ledger.sends(reply);
    }

    fn answer(&mut self, who: u8, nth: u8, said: Said) {
        let now = self.stage.now();
        let Some(connected) = &mut self.agents[usize::from(who)].connected else { return };
        if connected.hands.is_empty() {
            return;
        }
        let InHand { attempt, seq, since, unrouted } =
            connected.hands.remove(usize::from(nth) % connected.hands.len());
        connected.past.push((attempt, seq));
        if matches!(said, Said::Processed) {
            let in_time = who != WATCHER && !unrouted && now - since < timeout();
            // Whether it is in time is known once the core has heard it before the time is over; it does
            // with the next pass.
            self.ledger.said_processed(seq, in_time, now);
        }
        self.says(who, Command::Answer { attempt, answer: answer(said) });
    }

    fn answer_late(&mut self, who: u8, nth: u8) {
        let now = self.stage.now();
        let Some(connected) = &self.agents[usize::from(who)].connected else { return };
        if connected.past.is_empty() {
            return;
        }
        let (attempt, seq) = connected.past[usize::from(nth) % connected.past.len()];
        self.ledger.said_processed(seq, false, now);
        self.says(who, Command::Answer { attempt, answer: answer(Said::Processed) });
    }

    async fn replay(&mut self, nth: u8) {
        self.stage.flush().await;
        let store = self.stage.store();
        let open = LetterFilter::default();
        let letters = store.dead_messages(&open, 0, u64::from(u32::MAX), 64, false).await;
        let (mut letters, _) = letters.unwrap();
        if letters.is_empty() {
            return;
        }
        let letter = letters.swap_remove(usize::from(nth) % letters.len());
        self.ledger.tally.replayed += 1;
        let replay = Replay { letter, topic: None, payload: None };
        let reply = self.stage.submit(Caller::Operator, Command::Replay(Box::new(replay)));
        self.ledger.sends(reply);
    }

    fn job(&mut self, action: JobAction) {
        let new = NewJob { action, filter: LetterFilter::default(), total: 0 };
        drop(self.stage.submit(Caller::Operator, Command::StartJob(new)));
    }

    fn rule(&mut self, caller: u8, provider: u8, deny: bool) {
        let edit = RuleEdit {
            caller: RulePart::parse(agent_id(caller).as_str()).unwrap(),
            provider: RulePart::parse(agent_id(provider).as_str()).unwrap(),
            capability: RulePart::any(),
            effect: deny.then_some(Effect::Deny),
        };
        let command = Command::EditRules { edits: vec![edit], note: None, undoes: None };
        drop(self.stage.submit(Caller::Operator, command));
    }

    async fn restart(&mut self) -> Result<(), String> {
        self.ledger.tally.crashes += 1;
        self.stage.fill_disk(false).await;
        self.stage.input(Input::Stop);
        self.go_on().await?;
        // What was promised before is still to be heard, one thing after the other.
        for _ in 0..20 {
            if self.stage.core().is_done() {
                break;
            }
            self.hear().await?;
            self.stage.let_pass(Duration::from_millis(300));
            self.go_on().await?;
        }
        let settled = self.settled();
        self.stage.close().await;
        self.look(&settled)?;
        self.stage.crash().await;
        self.everyone_is_cut_off(false);
        Ok(())
    }

    fn everyone_is_cut_off(&mut self, crashed: bool) {
        for agent in &mut self.agents {
            agent.connected = None;
        }
        let now = self.stage.now();
        self.ledger.new_life(crashed, now);
        note(&mut self.ledger.tally.trace, &[4]);
    }

    /// Everything is well again, everyone is there and takes what comes, and time passes: nothing may be
    /// left that waits for ever.
    async fn drain(&mut self) -> Result<(), String> {
        self.stage.fill_disk(false).await;
        for who in 0..AGENTS {
            for provider in 0..AGENTS {
                self.rule(who, provider, false);
            }
            self.connect(who);
            self.subscribe(who, Listens::Itself);
            self.subscribe(who, Listens::AllTopics);
        }
        self.go_on().await?;
        for round in 0..300_u64 {
            self.hear().await?;
            for who in 0..AGENTS {
                while self.agents[usize::from(who)]
                    .connected
                    .as_ref()
                    .is_some_and(|one| !one.hands.is_empty())
                {
                    self.answer(who, 0, Said::Processed);
                }
            }
            self.go_on().await?;
            self.hear().await?;
            if self.stage.left_open().is_none() && !self.ledger.somebody_waits() {
                return Ok(());
            }
            // Nothing waits for as much as an hour, whatever the time of day was set to meanwhile.
            self.stage.let_pass(Duration::from_secs(if round < 20 { 1 } else { 10 }));
            self.go_on().await?;
        }
        Err(format!("left open for ever: {}", self.stage.left_open().unwrap_or_default()))
    }

    /// What is kept after one more restart is what was counted, and all that senders and recipients know of.
    async fn look_back(&mut self) -> Result<(), String> {
        let counted = self.stage.core().totals;
        self.restart().await?;
        let restored = self.stage.core().totals;
        if counted != restored {
            return Err(format!("counted were {counted:?}, and after a restart {restored:?}"));
        }
        let store = self.stage.store();
        let page = store.messages(&MessageFilter::default(), None, 5000, false).await.unwrap();
        self.ledger.compare(&restored, &page.rows)
    }
}
