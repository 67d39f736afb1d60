-- Identity, rules and sessions.

-- The door by which an agent said what it can do; how strictly that is taken depends on it.
alter table agent add column declared_by text;

alter table capability add column version text not null default '';

-- In which door's words the payload is written; null is those of the door it came by.
alter table message add column dialect text;
-- Trace and depth, as JSON.
alter table message add column context text;
-- When the sender stops waiting for an answer.
alter table message add column answer_by integer;

create index message_answer_by on message (answer_by) where answer_by is not null;
create index message_conversation on message (conversation, seq) where conversation is not null;

-- Whether a request might be made, and why. Apart from the messages, and narrow, because previews of
-- rules look at very many of them.
create table decision (
    message integer not null,
    provider text not null,
    caller text not null,
    capability text not null,
    effect text not null check (effect in ('allow', 'deny')),
    -- 'rule 7', 'declared' or 'nobody'.
    decided_by text not null,
    -- What the provider's own declaration said, whether it counted or not.
    declared text not null check (declared in ('allow', 'deny')),
    conversation text,
    at integer not null,
    primary key (message, provider)
) strict, without rowid;

-- Edits that were made together have the same number.
alter table rule_history add column edit integer not null default 0;
-- The rule that was made; null where one was taken away.
alter table rule_history add column rule integer;
alter table rule_history add column before text;
alter table rule_history add column note text;
-- The edit that this one took back.
alter table rule_history add column undoes integer;

create index rule_history_edit on rule_history (edit);

alter table conversation add column topic text not null default '';
-- Grows by one with every change.
alter table conversation add column version integer not null default 1;

create table session_change (
    conversation text not null references conversation (id) on delete cascade,
    version integer not null,
    at integer not null,
    actor text not null,
    -- JSON object: the keys that were written, with their values.
    written text not null,
    -- Null where it stayed as it was.
    status text,
    primary key (conversation, version)
) strict, without rowid;
