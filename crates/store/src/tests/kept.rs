//! Figures, what is saved, and what belongs together.

use switchboard_model::{
    ConversationId, Kind, MessageId, MessageState, Saved, SavedKind, Scope, Tally,
};

use super::sample::*;
use crate::Relation::{Answer, Conversation, Original, Question};
use crate::{ConversationFilter, FigureRecord, Record, SavedChange};

#[tokio::test]
async fn figures_are_kept_by_scope_and_stretch_and_the_old_ones_go() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let tally = |accepted| {
        let mut tally = Tally { accepted, ..Tally::default() };
        tally.times.note(accepted * 100);
        tally
    };
    let hunter = Scope::Agent(agent("hunter"));
    let record = |rows, forget_before| {
        Record::Figures(Box::new(FigureRecord { span: 60, rows, forget_before }))
    };
    let rows = vec![(Scope::Everything, 60, tally(7)), (hunter.clone(), 60, tally(2))];
    opened.written(vec![record(rows, 0)]).await;
    // The same minute again, when more is known of it.
    let rows = vec![(Scope::Everything, 60, tally(9)), (Scope::Everything, 120, tally(1))];
    opened.written(vec![record(rows, 0)]).await;
    let all = opened.store.figures_of(60, &Scope::Everything, 0).await.unwrap();
    assert_eq!(all, [(60, tally(9)), (120, tally(1))]);
    assert_eq!(
        opened.store.figures(60, 61, None).await.unwrap(),
        [(Scope::Everything, 120, tally(1))]
    );
    assert_eq!(opened.store.last_figures(60).await.unwrap(), Some(120));
    assert_eq!(opened.store.last_figures(3600).await.unwrap(), None);
    opened.written(vec![record(vec![(hunter.clone(), 180, tally(3))], 120)]).await;
    assert_eq!(opened.store.figures_of(60, &hunter, 0).await.unwrap(), [(180, tally(3))]);
}

#[tokio::test]
async fn what_is_saved_is_there_by_name_until_it_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let saved = |name: &str, text: &str| Saved {
        kind: SavedKind::Filter,
        name: name.to_owned(),
        text: text.to_owned(),
        saved_at: moment(1),
    };
    for one in [saved("b", "kind:event"), saved("A", "from:x"), saved("b", "kind:request")] {
        opened.written(vec![Record::Saved(SavedChange::Kept(one))]).await;
    }
    let kept = opened.store.saved().await.unwrap();
    assert_eq!(kept, [saved("A", "from:x"), saved("b", "kind:request")]);
    let forgotten = SavedChange::Forgotten { kind: SavedKind::Filter, name: "b".to_owned() };
    opened.written(vec![Record::Saved(forgotten)]).await;
    assert_eq!(opened.store.saved().await.unwrap(), [saved("A", "from:x")]);
}

#[tokio::test]
async fn a_request_its_answer_and_what_was_sent_in_its_place_are_related() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let in_talk = |seq: u64, from: &str, topic: &str, kind| {
        let mut message = message_on(seq, topic, "{}");
        message.from = agent(from);
        message.kind = kind;
        message.correlation = Some("k".to_owned());
        message.conversation = Some(ConversationId("talk".into()));
        message
    };
    let question = in_talk(1, "shopper", "agent:hunter", Kind::Request);
    let answer = in_talk(2, "hunter", "agent:shopper", Kind::Response);
    let other = in_talk(3, "hunter", "agent:watcher", Kind::Event);
    let mut again = in_talk(4, "shopper", "agent:hunter", Kind::Request);
    again.correlation = None;
    again.conversation = None;
    again.replay_of = Some(question.id);
    for message in [&question, &answer, &other, &again, &message_on(5, "else", "{}")] {
        opened.written(accepted(message.clone())).await;
    }
    let of = async |id| {
        let found = opened.store.related(id).await.unwrap().unwrap();
        found.into_iter().map(|(relation, row)| (relation, row.seq)).collect::<Vec<_>>()
    };
    assert_eq!(of(question.id).await, [(Answer, 2), (Conversation, 3)]);
    assert_eq!(of(answer.id).await, [(Question, 1), (Conversation, 3)]);
    assert_eq!(of(again.id).await, [(Original, 1)]);
    // An exchange on the bus has no name but the id of its first message, which does not say so.
    let mut first = in_talk(6, "shopper", "agent:hunter", Kind::Request);
    first.correlation = None;
    first.conversation = None;
    let mut back = in_talk(7, "hunter", "agent:shopper", Kind::Response);
    back.correlation = Some(first.id.to_string());
    back.conversation = Some(ConversationId(first.id.to_string().into()));
    for message in [&first, &back] {
        opened.written(accepted(message.clone())).await;
    }
    let of = async |id| {
        let found = opened.store.related(id).await.unwrap().unwrap();
        found.into_iter().map(|(relation, row)| (relation, row.seq)).collect::<Vec<_>>()
    };
    assert_eq!(of(first.id).await, [(Answer, 7)]);
    assert_eq!(of(back.id).await, [(Question, 6)]);
    let nobody = MessageId(uuid::Uuid::from_u128(99));
    assert!(opened.store.related(nobody).await.unwrap().is_none());
}

#[tokio::test]
async fn conversations_in_which_something_failed_are_found_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    for (seq, talk) in [(1, "good"), (2, "bad"), (3, "bad")] {
        let mut message = message(seq);
        message.conversation = Some(ConversationId(talk.into()));
        opened.written(accepted(message)).await;
    }
    opened.written(vec![settled(2, MessageState::Waiting, MessageState::Dead)]).await;
    let found = async |filter| {
        let rows = opened.store.conversations(filter, None, 10).await.unwrap();
        rows.into_iter().map(|row| row.id.0.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(found(ConversationFilter::default()).await, ["bad", "good"]);
    let failed = ConversationFilter { failed: true, ..ConversationFilter::default() };
    assert_eq!(found(failed).await, ["bad"]);
    let active = ConversationFilter { active: true, ..ConversationFilter::default() };
    assert_eq!(found(active).await, Vec::<String>::new(), "nobody opened a session");
}
