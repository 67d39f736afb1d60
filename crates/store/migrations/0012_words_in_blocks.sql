-- Which messages of a block have which words. A block is written once, when it is full, so that nothing has to
-- be merged later; what is not in a full block yet is looked at itself.
create table word_list (
    -- The block, then the first letter of the words, then a number where one list was not enough.
    id integer primary key,
    -- The words in order, each with the messages that have it.
    words blob not null
) strict;

drop table search;

-- Everything is described anew, in the background.
update search_progress set up_to = 0;
delete from search_again;
delete from history_block;
