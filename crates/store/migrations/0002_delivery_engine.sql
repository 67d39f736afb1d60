-- Retries, replays and long work on dead letters.

-- The dead letter in whose place a message was sent.
alter table message add column replay_of blob;

-- When the recipient is asked again.
alter table delivery add column due_at integer;
-- Whether the recipient only watches.
alter table delivery add column observer integer not null default 0;

create index delivery_due on delivery (message) where due_at is not null;

-- The job that dealt with a dead letter.
alter table dead_letter add column job integer;

create index dead_letter_job on dead_letter (job) where job is not null;
create index dead_letter_reason on dead_letter (reason) where status = 'open';

-- Something done with many dead letters. One that runs goes on when the broker is back: letters that
-- it has dealt with are no longer as its filter wants them, so none is dealt with twice.
create table job (
    id integer primary key,
    kind text not null check (kind in ('replay', 'discard', 'restore')),
    status text not null check (status in ('running', 'stopped', 'done')),
    -- JSON, as the operator gave it.
    filter text not null,
    -- Letters after this one came later than the job.
    up_to integer not null,
    topic text,
    per_second integer,
    note text,
    total integer not null,
    done integer not null,
    failed integer not null,
    last_error text,
    started_at integer not null,
    ended_at integer
) strict;
