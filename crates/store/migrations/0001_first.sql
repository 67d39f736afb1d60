-- Everything Switchboard remembers. Times are microseconds since 1970, UTC; message ids are the 16
-- bytes of a UUID; names of agents are text. Migrations are only ever added.

-- "Swbd": tells our file from any other SQLite database.
pragma application_id = 0x53776264;

create table agent (
    id text primary key,
    name text not null,
    version text not null,
    door text not null,
    first_seen integer not null,
    last_seen integer not null
) strict, without rowid;

create table capability (
    agent text not null references agent (id) on delete cascade,
    position integer not null,
    name text not null,
    description text not null,
    input_schema text not null,
    output_schema text not null,
    keywords text not null,
    -- JSON array; null means the agent said nothing, so it is public.
    authorized_requester_ids text,
    primary key (agent, position)
) strict, without rowid;

create table token (
    hash blob primary key,
    agent text not null,
    priority_ceiling text not null check (priority_ceiling in ('LOW', 'NORMAL', 'HIGH', 'URGENT')),
    created_at integer not null,
    revoked_at integer
) strict, without rowid;

create index token_agent on token (agent);

-- The hot tables: message, delivery, attempt. They have no foreign keys, because each would cost a
-- look-up for every row, and because a delivery may be recorded after retention took its message.
-- They have few indexes for the same reason. The payload comes last, so that reading the other
-- columns never touches the pages it overflows to.
create table message (
    seq integer primary key,
    id blob not null,
    sender text not null,
    -- The addressed agent, or else the one that took it.
    recipient text,
    topic text not null,
    capability text,
    kind text not null,
    priority text not null,
    door text not null,
    correlation text,
    conversation text,
    accepted_at integer not null,
    expires_at integer,
    state text not null check (state in ('waiting', 'processed', 'dead', 'discarded', 'expired', 'refused')),
    settled_at integer,
    error text,
    payload text not null
) strict;

create unique index message_id on message (id);
create index message_waiting on message (seq) where state = 'waiting';

create table delivery (
    id integer primary key,
    message integer not null,
    agent text not null,
    door text not null,
    pattern text,
    state text not null check (state in ('waiting', 'processed', 'failed')),
    created_at integer not null
) strict;

create index delivery_message on delivery (message);

create table attempt (
    delivery integer not null,
    number integer not null,
    started_at integer not null,
    ended_at integer not null,
    outcome text not null,
    message text,
    -- What the recipient gave back, as JSON text.
    payload text,
    primary key (delivery, number)
) strict, without rowid;

create table dead_letter (
    message integer primary key,
    reason text not null,
    died_at integer not null,
    status text not null default 'open' check (status in ('open', 'replayed', 'discarded')),
    -- The message that was sent in its place.
    replayed_as blob,
    closed_at integer,
    note text
) strict;

create index dead_letter_open on dead_letter (died_at) where status = 'open';

-- Who may call what. '*' stands for anyone or anything.
create table rule (
    id integer primary key,
    caller text not null,
    provider text not null,
    capability text not null,
    effect text not null check (effect in ('allow', 'deny')),
    created_at integer not null,
    created_by text not null,
    unique (caller, provider, capability)
) strict;

create table rule_history (
    id integer primary key,
    at integer not null,
    actor text not null,
    change text not null check (change in ('set', 'cleared')),
    caller text not null,
    provider text not null,
    capability text not null,
    effect text check (effect in ('allow', 'deny'))
) strict;

-- Every subscription there ever was; a live one has no end.
create table subscription (
    id integer primary key,
    agent text not null,
    door text not null,
    pattern text not null,
    policy text not null,
    started_at integer not null,
    ended_at integer
) strict;

create index subscription_live on subscription (id) where ended_at is null;

create table conversation (
    id text primary key,
    status text not null,
    -- JSON object, merged key by key.
    shared_state text not null default '{}',
    started_at integer not null,
    updated_at integer not null,
    closed_at integer
) strict, without rowid;

create table participant (
    conversation text not null references conversation (id) on delete cascade,
    agent text not null,
    joined_at integer not null,
    primary key (conversation, agent)
) strict, without rowid;

create table audit_event (
    id integer primary key,
    at integer not null,
    actor text not null,
    action text not null,
    subject text not null,
    detail text
) strict;

-- Counters for the whole life of the database, also of rows that retention has deleted. The check is
-- the promise itself: nothing accepted disappears.
create table total (
    id integer primary key check (id = 1),
    accepted integer not null,
    processed integer not null,
    waiting integer not null,
    dead integer not null,
    discarded integer not null,
    expired integer not null,
    -- The highest numbers ever given, so that none is given twice.
    last_seq integer not null,
    last_delivery integer not null,
    last_subscription integer not null,
    check (accepted = processed + waiting + dead + discarded + expired)
) strict;

insert into total values (1, 0, 0, 0, 0, 0, 0, 0, 0, 0);

-- The words of each message, by its seq. Only beginnings of words are looked up, so places and
-- columns are not kept, nor is the text. The words are split and lowered by us; the tokenizer only
-- sees the spaces between them.
create virtual table search using fts5 (
    words, content = '', contentless_delete = 1, detail = 'none', tokenize = 'ascii'
);

create table search_progress (
    id integer primary key check (id = 1),
    -- Messages up to here are in the index.
    up_to integer not null
) strict;

insert into search_progress values (1, 0);

-- Messages in the index that have gained a word since, because somebody took them.
create table search_again (
    seq integer primary key
) strict;
