-- The first attempt at a delivery, which nearly always is the only one, is part of its row. The table
-- `attempt` has the later ones, and the first ones that older versions wrote.
alter table delivery add column started_at integer;
alter table delivery add column ended_at integer;
alter table delivery add column outcome text;
-- The recipient's words, or what went wrong.
alter table delivery add column words text;
-- What the recipient gave back, as JSON text. Last, like every payload.
alter table delivery add column answer text;
