-- Most messages have one recipient, who processes them at once. All that is known of such a message is one
-- row: what would be its row in `delivery`, with the one attempt at it, is in these columns. `delivery` is the
-- number that row would have; its agent is the message's recipient. Answers come last, like every payload, and
-- one that is large is not kept here.
alter table message add column delivery integer;
alter table message add column taken_door text;
alter table message add column taken_pattern text;
alter table message add column taken_started_at integer;
alter table message add column taken_ended_at integer;
-- 1 where the number of the message is part of its id, so that who knows the one knows the other and no index
-- is needed to find it. Null for those of older versions, and for those that other rows name by their ids.
alter table message add column by_seq integer;
alter table message add column taken_words text;
alter table message add column taken_answer text;

-- To whom messages went, wherever that is kept.
create view asked as
    select id, message, agent, door, pattern, state, created_at, due_at, observer, started_at, ended_at,
        outcome, words, answer
    from delivery
    union all
    select delivery, seq, recipient, taken_door, taken_pattern, 'processed', accepted_at, null, 0,
        taken_started_at, taken_ended_at, 'processed', taken_words, taken_answer
    from message where delivery is not null;

-- All that are in the index now are of older versions, so that only its words change.
pragma writable_schema = on;

update sqlite_schema set sql = sql || ' where by_seq is null' where type = 'index' and name = 'message_id';

pragma writable_schema = reset;
