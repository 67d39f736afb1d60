//! What happens, told to those who watch: together, because telling each thing by itself would cost more than the thing.

use std::time::Duration;

use switchboard_model::Event;

use super::Core;

/// How long what happens may wait to be told, and how much of it. Screens are told twenty times a second.
const TELL: Duration = Duration::from_millis(10);
const NEWS: usize = 512;

impl Core {
    pub(super) fn tell(&mut self, event: Event) {
        self.news.push(event);
    }

    /// Tells those who watch what has happened, when that has come to something.
    pub(super) fn tell_news(&mut self) {
        if self.news.is_empty() {
            return;
        }
        let by = *self.tell_by.get_or_insert(self.now.monotonic + TELL);
        if by <= self.now.monotonic || self.news.len() >= NEWS {
            self.tell_news_now();
        }
    }

    pub(super) fn tell_news_now(&mut self) {
        self.tell_by = None;
        // Nobody watching is no fault.
        drop(self.events.send(self.news.drain(..).collect()));
    }
}
