-- The same checks in other words. For a list of more than two words SQLite builds a table of them, and in
-- a check or the condition of an index it does so again for every row: more work than the row itself.
-- Only the words are changed, as SQLite's manual describes for such a case; no row is read or written, so
-- this takes no time however large the database is.
pragma writable_schema = on;

update sqlite_schema set sql = replace(sql,
    'check (state in (''waiting'', ''processed'', ''dead'', ''discarded'', ''expired'', ''refused''))',
    'check (state = ''processed'' or state = ''waiting'' or state = ''dead'' or state = ''discarded'' '
        || 'or state = ''expired'' or state = ''refused'')')
    where type = 'table' and name = 'message';

update sqlite_schema set sql = replace(sql,
    'check (state in (''waiting'', ''processed'', ''failed''))',
    'check (state = ''processed'' or state = ''waiting'' or state = ''failed'')')
    where type = 'table' and name = 'delivery';

-- There are no other states than these two and the four that the index is about.
update sqlite_schema set sql = replace(sql,
    'where state in (''dead'', ''discarded'', ''expired'', ''refused'')',
    'where state <> ''processed'' and state <> ''waiting''')
    where type = 'index' and name = 'message_failed';

pragma writable_schema = reset;
