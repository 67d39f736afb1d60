-- Mailboxes of agents that have no connection, and whom to trust.

-- Whether messages for this agent wait for it to fetch them.
alter table agent add column mailbox integer not null default 0;

-- What came for agents with mailboxes, and what they said of it.
create table mail (
    agent text not null,
    message integer not null,
    read_at integer,
    -- What the agent itself said.
    said text check (said in ('processed', 'failed')),
    said_at integer,
    primary key (agent, message)
) strict, without rowid;

create index mail_message on mail (message);
-- What has not been fetched, however much has been.
create index mail_unread on mail (agent, message) where read_at is null and said is null;

-- Announced agents about which something was decided.
create table announced (
    agent text primary key,
    trust text not null check (trust in ('waiting', 'admitted', 'refused')),
    trusted_by text,
    -- JSON: the key it is known by, and those it had before.
    key text,
    retired text not null,
    -- JSON: someone came with another key.
    key_change text,
    -- The last document, as it was sent, with its digest and its signature.
    document text not null,
    digest text not null,
    signature text,
    version text not null,
    first_seen integer not null,
    last_seen integer not null
) strict, without rowid;

-- The digests of their documents that newer ones have replaced, and when.
create table replaced_document (
    agent text not null,
    digest text not null,
    at integer not null,
    primary key (agent, digest)
) strict, without rowid;

create index replaced_document_at on replaced_document (agent, at);

-- Who may announce themselves, beside those that the settings name.
create table allow_list (
    pattern text primary key,
    note text not null,
    added_at integer not null
) strict, without rowid;
