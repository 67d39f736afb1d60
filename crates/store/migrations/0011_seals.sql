-- A seal over what was said: the CRC-32 of a message's number, id, sender, topic and payload. SQLite does not notice when
-- a disk gives back other bytes than it was given; whoever reads a payload compares. Null for those of older versions.
alter table message add column seal integer;

-- The first message that has one: a later one without is damaged, too.
alter table total add column sealed_from integer not null default 1;
update total set sealed_from = last_seq + 1;
