begin;
set local search_path = public, extensions;
select plan(19);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
update public.tasks set metadata = '{"chat_id": "a chat"}' where id = (select id from made);
select tests.claim((select id from made));
select private.fail_task((select id from made), tests.epoch_of((select id from made)), '{"code": "MODEL_REFUSED", "message": "no"}', 'never');

select tests.act_as_user('owner');
select is(public.find_chat('another chat'), null, 'there is no other chat');
select is(public.find_chat('a chat') ->> 'task_id', (select id::text from made), 'the chat is found');
select is(public.find_chat((select id::text from made)) ->> 'task_id', (select id::text from made), 'and by the job''s id');
select public.continue_task((select id from made), '"Again"');
select is(
  public.find_chat('a chat', true) -> 'messages' -> 1, '{"step": 1, "input": "Again"}'::jsonb,
  'the messages of the user are returned when they are asked for'
);
select is(public.find_chat('a chat', true) -> 'has_earlier', 'false'::jsonb, 'without earlier ones');
select is(
  jsonb_path_query_array(
    public.read_events((select id from made), public.find_chat('a chat') ->> 'cursor'), '$.events[*].type'),
  '["task.resumed"]'::jsonb, 'the cursor is before the answer to the newest message'
);
select tests.act_as_user('stranger');
select is(public.find_chat('a chat'), null, 'a stranger has no such chat');
select tests.act_as_nobody();

-- A fork has its own events for the message that it answers, and none for those before.
select tests.claim((select id from made));
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 2, "kind": "model", "state": "done", "output": {"text": "Hello", "tool_calls": [], "finish_reason": "stop"}}]');
select private.finish_task((select id from made), tests.epoch_of((select id from made)), '"Hello"');
create temp table fork on commit drop as select public.fork_task((select id from made), 2) as id;
grant select on fork to authenticated;
select tests.act_as_user('owner');
select is(
  public.find_chat('a chat', true) -> 'messages', '[{"step": 0, "input": {"question": "?"}, "answer": null}, {"step": 1, "input": "Again"}]'::jsonb,
  'an answer whose events the job does not have comes with its text, here none'
);
select tests.act_as_nobody();
delete from private.task_events where task_id = (select id from made);
update public.tasks set metadata = '{}' where id = (select id from fork);
select tests.act_as_user('owner');
select is(
  public.find_chat('a chat', true) #>> '{messages,1,answer}', 'Hello', 'also after retention has deleted its events'
);
select tests.act_as_nobody();

insert into public.task_steps (task_id, seq, kind, state, input, output, epoch, started_at, ended_at)
select made.id, n, 'user', 'done', to_jsonb('message ' || n), '{}', 0, now(), now()
from made, generate_series(1001, 1300) as n;
select tests.act_as_user('owner');
select is(jsonb_array_length(public.find_chat('a chat', true) -> 'messages'), 200, 'a long chat has its newest 200 messages');
select is(public.find_chat('a chat', true) #>> '{messages,199,input}', 'message 1300', 'up to the last one');
select is(public.find_chat('a chat', true) -> 'has_earlier', 'true'::jsonb, 'and says that there are earlier ones');
select tests.act_as_nobody();
update public.task_steps set input = to_jsonb(repeat('x', 900000)) where task_id = (select id from made) and seq > 1290;
select tests.act_as_user('owner');
create function pg_temp.parts_read() returns bigint language sql as $$
  select sum(idx_tup_fetch)::bigint from pg_stat_xact_all_tables where schemaname = 'pg_toast'
$$;
create temp table read on commit drop as select pg_temp.parts_read() as before, 0::bigint as by_chat, 0::bigint as by_all;
select is(jsonb_array_length(public.find_chat('a chat', true) -> 'messages'), 2, 'and at most two mebibytes of them');
update pg_temp.read set by_chat = pg_temp.parts_read() - before;
select tests.act_as_nobody();
select isnt(sum(octet_length(input::text)), null, 'the last ten are read')
from public.task_steps where task_id = (select id from made) and seq > 1290;
update pg_temp.read set by_all = pg_temp.parts_read() - before - by_chat;
select cmp_ok(by_chat * 2, '<', by_all, 'for which those before are not read') from pg_temp.read;
select tests.act_as_user('owner');
select is(public.find_chat('a chat', true) -> 'has_earlier', 'true'::jsonb, 'and says that there are earlier ones');
select is(public.find_chat('a chat', true) -> 'messages_cursor', 'null'::jsonb, 'a message without an event has no cursor');
select tests.act_as_nobody();
delete from public.task_steps where task_id = (select id from made) and seq > 1000;
insert into public.task_steps (task_id, seq, kind, state, input, output, epoch, started_at, ended_at)
select made.id, 1000 + n, case n % 2 when 0 then 'user' else 'model' end, 'done', case n % 2 when 0 then '"Go on"'::jsonb end,
  case n % 2 when 0 then '{}' else jsonb_build_object('text', repeat('x', 900000), 'tool_calls', '[]'::jsonb) end, 0, now(), now()
from made, generate_series(0, 9) as n;
select tests.act_as_user('owner');
select is(jsonb_array_length(public.find_chat('a chat', true) -> 'messages'), 2, 'the text of answers counts');
select tests.act_as_nobody();
delete from public.task_steps where task_id = (select id from made) and seq >= 1000;

-- Longer than an index takes, and it cannot be compressed.
create temp table long_id on commit drop as
  select string_agg(md5(n::text), '') as id from generate_series(1, 1000) as n;
grant select on long_id to authenticated;
update public.tasks set metadata = jsonb_build_object('chat_id', (select id from long_id)) where id = (select id from made);
select tests.act_as_user('owner');
select is(public.find_chat((select id from long_id)) ->> 'task_id', (select id::text from made), 'the id may be long');
select tests.act_as_nobody();

select * from finish();
rollback;
