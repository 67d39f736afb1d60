-- A transaction that only adds messages does not write `total`: the messages after its `last_seq` are counted where it is
-- read. Versions that do not know this cannot open the database.
create view counted as
    with later as (select seq, state, delivery from message where seq > (select last_seq from total))
    select
        accepted + (select count(*) from later where state <> 'refused') as accepted,
        processed + (select count(*) from later where state = 'processed') as processed,
        waiting + (select count(*) from later where state = 'waiting') as waiting,
        dead + (select count(*) from later where state = 'dead') as dead,
        discarded + (select count(*) from later where state = 'discarded') as discarded,
        expired + (select count(*) from later where state = 'expired') as expired,
        max(last_seq, (select coalesce(max(seq), 0) from later)) as last_seq,
        max(last_delivery, (select coalesce(max(delivery), 0) from later)) as last_delivery,
        last_subscription
    from total;
