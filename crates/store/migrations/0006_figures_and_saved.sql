-- How busy the broker was, and what the operator keeps for another time.

-- What was counted in a stretch of so many seconds that began at `at`, in seconds since 1970. There
-- is a row for everything in every stretch in which the broker ran; of a door or an agent only where
-- there was something to count.
create table figure (
    span integer not null,
    scope text not null,
    at integer not null,
    accepted integer not null,
    processed integer not null,
    refused integer not null,
    dead integer not null,
    queued integer not null,
    open_letters integer not null,
    -- Classes of times and how many fell into each.
    times text not null,
    primary key (span, scope, at)
) strict, without rowid;

create index figure_at on figure (span, at);

create table saved (
    kind text not null check (kind in ('filter', 'template')),
    name text not null,
    text text not null,
    saved_at integer not null,
    primary key (kind, name)
) strict, without rowid;
