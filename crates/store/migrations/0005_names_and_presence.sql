-- What the operator says of agents, and how things stood before.

-- The operator's own name for an agent.
alter table agent add column label text;
-- Whether the operator keeps it out.
alter table agent add column blocked integer not null default 0;

-- Whether agents could take messages, and since when: a row for each change.
create table presence (
    agent text not null,
    at integer not null,
    status text not null,
    primary key (agent, at)
) strict, without rowid;

create index presence_at on presence (at);

-- When the broker was last known to run, and before which moment not everything is kept any more; 0 where
-- that is not known yet.
alter table total add column alive_at integer not null default 0;
alter table total add column kept_since integer not null default 0;

-- Messages that were on their way for more than a second, few beside the others: who looks at a moment
-- finds those that waited then without walking through all.
create index message_slow on message (settled_at, accepted_at)
    where settled_at > accepted_at + 1000000;

-- Dead letters that somebody has dealt with.
create index dead_letter_closed on dead_letter (closed_at, died_at) where closed_at is not null;
