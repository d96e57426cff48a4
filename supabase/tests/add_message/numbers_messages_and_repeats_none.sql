begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_user('owner'), tests.create_user('stranger');
create temp table made (id uuid) on commit drop;
grant all on made to authenticated;
select tests.act_as_user('owner');
insert into made select private.create_conversation('Talk');

select is(
  private.add_message((select id from made), 'user', 'Hello', 'first'),
  private.add_message((select id from made), 'user', 'Hello again', 'first'),
  'the same key returns the same message');
select isnt(
  private.add_message((select id from made), 'assistant', 'Hi', null),
  private.add_message((select id from made), 'assistant', 'Hi', null),
  'each call without a key adds a message');
select results_eq(
  'select seq, role, content from messages order by seq',
  $$values (1, 'user', 'Hello'), (2, 'assistant', 'Hi'), (3, 'assistant', 'Hi')$$,
  'messages are numbered without gaps');
select is((select message_count from conversations), 3, 'the conversation counts them');

select tests.act_as_user('stranger');
select is(
  tests.code_of(format('select private.add_message(%L, ''user'', ''x'', null)', (select id from made))),
  'CONVERSATION_NOT_FOUND', 'a stranger cannot add a message');
select is(
  tests.code_of(format('select private.delete_conversation(%L)', (select id from made))),
  'CONVERSATION_NOT_FOUND', 'a stranger cannot delete the conversation');
select tests.act_as_user('owner');
select private.delete_conversation((select id from made));
select tests.act_as_nobody();
select is_empty('select from messages', 'messages are deleted with their conversation');
select tests.act_as_user('owner');
select is(
  tests.code_of('insert into conversations (user_id, title) values (auth.uid(), ''mine'')'),
  '42501', 'users can write only through the functions');

select * from finish();
rollback;
