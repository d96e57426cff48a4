begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_user('owner'), tests.create_user('stranger');
update private.quotas set amount = 1000 where name = 'conversation_bytes';
create function pg_temp.used() returns bigint language sql as $$
  select private.stored_use('conversation_bytes', tests.user_id('owner'))
$$;
create function pg_temp.say(p_text text) returns text language sql as $$
  select tests.code_of(format('select private.append_message(%L, %L, %L, %L, null)',
    (select id from public.conversations), tests.user_id('owner'), 'user', p_text))
$$;

insert into public.conversations (user_id, title) values (tests.user_id('owner'), 'Plans');
select is(pg_temp.used(), 205::bigint, 'a conversation counts');
select pg_temp.say(repeat('é', 100));
select is(pg_temp.used(), 605::bigint, 'a message counts in bytes');
select is(pg_temp.say(repeat('x', 196)), 'QUOTA_EXCEEDED', 'a message that exceeds the quota is refused');
select pg_temp.say(repeat('x', 195));
select is(pg_temp.used(), 1000::bigint, 'the quota can be used completely');
select is(
  tests.code_of(format('insert into public.conversations (user_id, title) values (%L, %L)', tests.user_id('owner'), 'x')),
  'QUOTA_EXCEEDED', 'no other conversation begins');
select lives_ok($$insert into public.conversations (user_id, title) values (tests.user_id('stranger'), 'x')$$, 'other users may');
delete from public.conversations where user_id = tests.user_id('owner');
select is(pg_temp.used(), 0::bigint, 'a deleted conversation no longer counts');
insert into public.conversations (user_id, title) values (tests.user_id('owner'), 'Plans');
select lives_ok($$delete from auth.users where id = tests.user_id('owner')$$, 'an account is deleted with its conversations');

select * from finish();
rollback;
