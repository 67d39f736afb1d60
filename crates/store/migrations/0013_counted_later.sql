-- A transaction that only adds messages does not write `total`: the messages after its `last_seq` are counted where it is
-- read. One whose state is damaged is in none, so that the sum holds whatever happens to a row. Versions that do not know this
-- cannot open the database.
create view counted as
    with
        newer as (select seq, state, delivery from message where seq > (select last_seq from total)),
        later as (
            select
                count(*) filter (where state = 'processed') as processed,
                count(*) filter (where state = 'waiting') as waiting,
                count(*) filter (where state = 'dead') as dead,
                count(*) filter (where state = 'discarded') as discarded,
                count(*) filter (where state = 'expired') as expired,
                coalesce(max(seq), 0) as last_seq,
                coalesce(max(delivery), 0) as last_delivery
            from newer
        )
    select
        t.accepted + l.processed + l.waiting + l.dead + l.discarded + l.expired as accepted,
        t.processed + l.processed as processed,
        t.waiting + l.waiting as waiting,
        t.dead + l.dead as dead,
        t.discarded + l.discarded as discarded,
        t.expired + l.expired as expired,
        max(t.last_seq, l.last_seq) as last_seq,
        max(t.last_delivery, l.last_delivery) as last_delivery,
        t.last_subscription
    from total t cross join later l;
