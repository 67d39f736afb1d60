//! What the writer does when nobody waits for a commit: describe blocks of messages, forget old messages, give room back. In small
//! steps; under load, at most a tenth of the writer's time goes here, and a third while there is more than may be
//! kept.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::Options;
use crate::batch::{Batch, Settle};
use crate::pen::Pen;
use crate::retention::{Limits, Walk, give_back_some};
use crate::search::Begun;
use crate::total::Uncounted;
use crate::{block, clock};

/// So long without a write is idle. A conversation of quick answers is not interrupted.
const IDLE: Duration = Duration::from_millis(20);
/// Under load, blocks are described at least this often.
const UNDER_LOAD: Duration = Duration::from_secs(1);
/// Under load, a step is followed by so many times its own length without one; by fewer while there is more than
/// may be kept, because then as much has to go as comes in.
const SHARE: u32 = 10;
const SHARE_OF_TOO_MUCH: u32 = 2;
/// So many bytes of payloads are described before their block is full: to look at more of them for each search would take
/// long.
const MANY_BYTES: usize = 4 << 20;
/// So many messages are looked at in one step under load, where a message that comes in meanwhile waits for it, and
/// when nothing else is to be done.
const FEW: usize = 64;
const MANY: usize = 2048;
/// A message may come after so many with higher numbers, because its answer was waited for; what is described and then
/// grows must be looked at again.
const LATE: u64 = 512;
/// How often old messages are looked for.
const FORGET_EVERY: Duration = Duration::from_secs(60);
/// After a failure, as of a full disk, there is no hurry.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// The operator wants something else than before.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    OtherLimits,
    Compacting,
}

/// How the writer hears of that.
pub(crate) struct Orders {
    pub(crate) options: watch::Receiver<Options>,
    pub(crate) compacting: watch::Receiver<bool>,
}

impl Orders {
    pub(crate) async fn next(&mut self) -> Order {
        tokio::select! {
            Ok(()) = self.compacting.changed() => Order::Compacting,
            Ok(()) = self.options.changed() => Order::OtherLimits,
            else => std::future::pending().await,
        }
    }
}

/// What there is to do, and when it was last done.
pub(crate) struct Housekeeping {
    options: watch::Receiver<Options>,
    /// Whether the operator wants all room back that is not used.
    compacting: watch::Receiver<bool>,
    /// Messages up to here are described.
    indexed_up_to: u64,
    /// The beginning of the next block, as far as it was looked at.
    begun: Begun,
    /// The last message there is.
    last: u64,
    /// What the messages after those that are described carry, about.
    bytes: usize,
    /// There are messages that are described and have changed since.
    changed: bool,
    walk: Option<Walk>,
    next_walk: Instant,
    /// The last step left more to do at once.
    more: bool,
    /// There is more than may be kept.
    too_much: bool,
    last_write: Instant,
    last_step: Instant,
    last_step_took: Duration,
    not_before: Instant,
}

impl Housekeeping {
    /// Starts with everything still to be looked at.
    pub(crate) fn new(
        options: watch::Receiver<Options>,
        compacting: watch::Receiver<bool>,
        indexed_up_to: u64,
        last: u64,
    ) -> Self {
        let now = Instant::now();
        Self {
            options,
            compacting,
            indexed_up_to,
            begun: Begun::default(),
            last,
            bytes: 0,
            changed: true,
            walk: None,
            next_walk: now,
            more: false,
            too_much: false,
            last_write: now,
            last_step: now,
            last_step_took: Duration::ZERO,
            not_before: now,
        }
    }

    /// Messages up to here are described, or are about to be: what changes among them must be looked at again.
    pub(crate) fn looked_at_up_to(&self) -> u64 {
        self.begun.up_to().max(self.indexed_up_to)
    }

    /// Does from now on what the operator wants.
    pub(crate) fn obey(&mut self, order: Order) {
        match order {
            Order::OtherLimits => {
                self.walk = None;
                self.next_walk = Instant::now();
            }
            // That is looked at whenever it matters.
            Order::Compacting => {}
        }
    }

    /// This was written.
    pub(crate) fn written(&mut self, batch: &Batch<'_>) {
        self.last_write = Instant::now();
        let looked_at_up_to = self.looked_at_up_to();
        for new in &batch.messages {
            self.last = self.last.max(new.message.seq);
            self.bytes += new.message.payload.bytes();
            self.changed |= new.message.seq <= looked_at_up_to;
        }
        let gained = |settle: &Settle<'_>| settle.message <= looked_at_up_to;
        self.changed |= batch.settles.iter().any(gained);
    }

    /// The last message that is worth describing now: the last of a full block, or the last there is where they carry
    /// much.
    fn ripe(&self) -> u64 {
        self.ripe_up_to(self.last)
    }

    /// The same while messages keep coming, and some of them late.
    fn ripe_under_load(&self) -> u64 {
        self.ripe_up_to(self.last.saturating_sub(LATE))
    }

    fn ripe_up_to(&self, last: u64) -> u64 {
        if self.bytes >= MANY_BYTES {
            return last.max(self.indexed_up_to);
        }
        (block::of(last + 1) * block::SPAN).saturating_sub(1).max(self.indexed_up_to)
    }

    fn is_behind(&self) -> bool {
        self.changed || self.ripe() > self.indexed_up_to
    }

    /// When to take the next step if nothing is written until then.
    pub(crate) fn due(&self) -> Instant {
        let idle = (self.last_write + IDLE).max(self.not_before);
        if self.is_behind() || self.walk.is_some() || *self.compacting.borrow() {
            return idle;
        }
        idle.max(self.next_walk)
    }

    /// Whether to take a step although writes keep coming.
    pub(crate) fn due_under_load(&self) -> bool {
        let share = if self.too_much { SHARE_OF_TOO_MUCH } else { SHARE };
        let pause = if self.more { self.last_step_took * share } else { UNDER_LOAD };
        Instant::now() >= (self.last_step + pause).max(self.not_before)
    }

    /// One step; what it writes is a transaction of its own. What goes wrong is done again later. Returns which messages
    /// are not counted then: none, where something was written, because those that are forgotten could not be counted any
    /// more.
    pub(crate) fn step(
        &mut self,
        pen: &Pen,
        uncounted: &Uncounted,
    ) -> rusqlite::Result<Option<Uncounted>> {
        let began = Instant::now();
        if began >= self.next_walk && self.walk.is_none() {
            self.walk = Some(Walk::default());
            self.next_walk = began + FORGET_EVERY;
        }
        let done = self.look_and_write(pen, uncounted);
        if let Err(error) = &done {
            tracing::warn!(%error, "could not keep house in the database; trying again later");
            pen.roll_back();
            self.not_before = Instant::now() + AFTER_FAILURE;
            self.walk = None;
        }
        self.last_step = Instant::now();
        self.last_step_took = began.elapsed();
        done
    }

    fn look_and_write(
        &mut self,
        pen: &Pen,
        uncounted: &Uncounted,
    ) -> rusqlite::Result<Option<Uncounted>> {
        let is_idle = self.last_write.elapsed() >= IDLE;
        let (ripe, most) =
            if is_idle { (self.ripe(), MANY) } else { (self.ripe_under_load(), FEW) };
        // Where anything fails, it is all looked at again.
        let mut begun = std::mem::take(&mut self.begun);
        let is_whole = begun.look(pen, (self.indexed_up_to, ripe), most)?;
        let compacting = *self.compacting.borrow();
        if !is_whole && !self.changed && self.walk.is_none() && !compacting {
            self.begun = begun;
            self.more = self.looked_at_up_to() < ripe;
            return Ok(None);
        }
        let whole = if is_whole { std::mem::take(&mut begun) } else { Begun::default() };
        let uncounted = self.transact(pen, uncounted, whole, ripe)?;
        self.begun = begun;
        Ok(Some(uncounted))
    }

    fn transact(
        &mut self,
        pen: &Pen,
        uncounted: &Uncounted,
        whole: Begun,
        ripe: u64,
    ) -> rusqlite::Result<Uncounted> {
        pen.begin()?;
        let uncounted = uncounted.count(pen)?;
        let (up_to, more_changed) = whole.write(pen, self.indexed_up_to)?;
        let more_to_forget = match &mut self.walk {
            Some(walk) => {
                let options = *self.options.borrow();
                walk.step(pen, Limits::of(&options), clock::now())?
            }
            None => false,
        };
        let compacting = *self.compacting.borrow();
        let more_to_give = compacting && give_back_some(pen)?;
        pen.commit()?;
        if up_to >= ripe {
            self.bytes = 0;
        }
        self.indexed_up_to = up_to;
        self.changed = more_changed;
        self.too_much = self.walk.as_ref().is_some_and(|walk| walk.too_much);
        self.walk = self.walk.take().filter(|_| more_to_forget);
        self.more = up_to < ripe || more_changed || more_to_forget || more_to_give;
        Ok(uncounted)
    }
}

#[cfg(test)]
impl Housekeeping {
    /// Looks at so many messages, as under load.
    pub(crate) fn look(&mut self, pen: &Pen, most: usize) -> rusqlite::Result<bool> {
        self.begun.look(pen, (self.indexed_up_to, self.ripe()), most)
    }

    /// Writes down what was looked at.
    pub(crate) fn describe_whole(&mut self, pen: &Pen) -> rusqlite::Result<()> {
        let (whole, last) = (std::mem::take(&mut self.begun), self.last);
        self.transact(pen, &Uncounted::none(last), whole, last).map(drop)
    }

    /// Describes all messages up to this one, whether their blocks are full or not.
    pub(crate) fn describe(&mut self, pen: &Pen, up_to: u64) -> rusqlite::Result<()> {
        let mut more = true;
        while more {
            let mut begun = Begun::default();
            begun.look(pen, (self.indexed_up_to, up_to), MANY)?;
            pen.begin()?;
            let more_changed;
            (self.indexed_up_to, more_changed) = begun.write(pen, self.indexed_up_to)?;
            pen.commit()?;
            more = more_changed || self.indexed_up_to < up_to;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_load_more_time_goes_to_forgetting_while_there_is_too_much() {
        let (_options, options) = watch::channel(Options::default());
        let (_compacting, compacting) = watch::channel(false);
        let mut house = Housekeeping::new(options, compacting, 0, 0);
        let long_ago = Instant::now().checked_sub(Duration::from_secs(30)).unwrap();
        (house.last_step, house.not_before) = (long_ago, long_ago);
        (house.more, house.last_step_took) = (true, Duration::from_secs(10));
        assert!(!house.due_under_load(), "ten times as long has not passed");
        house.too_much = true;
        assert!(house.due_under_load(), "twice as long has");
    }
}
