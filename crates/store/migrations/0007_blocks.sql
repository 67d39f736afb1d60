-- Which names, kinds and times occur in which stretch of history, so that a search passes over
-- stretches that cannot have what it looks for. Filled behind, with the index of words.
create table history_block (
    -- Messages with seqs from 1024 times this on, 1024 of them.
    number integer primary key,
    -- What occurs, in lower case, a line each.
    senders text not null,
    recipients text not null,
    subjects text not null,
    kinds text not null,
    doors text not null,
    priorities text not null,
    first_at integer not null,
    last_at integer not null
) strict;

-- What is in the index of words already is described anew, from the beginning.
update search_progress set up_to = 0;
delete from search_again;
insert into search (search) values ('delete-all');

-- What did not go well is rare, and looked for often.
create index message_failed on message (state, seq)
    where state in ('dead', 'discarded', 'expired', 'refused');
