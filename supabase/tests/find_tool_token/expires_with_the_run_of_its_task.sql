begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_task() as continued, tests.create_task() as other;
grant select on made to authenticated;
create function pg_temp.issue(p_task_id uuid, p_hash text) returns void language sql as $$
  select private.issue_tool_token(jsonb_build_object('user_id', tests.user_id('owner'), 'task_id', p_task_id,
    'tool', 'render', 'execution_id', gen_random_uuid()), p_hash, 60)
$$;
select pg_temp.issue(continued, 'early'), pg_temp.issue(other, 'beside') from made;
select is(tests.code_of($$select private.find_tool_token('early')$$), 'none', 'a token is valid while its task is open');

update public.tasks set status = 'failed', error = '{}', finished_at = now()
where id = (select continued from made);
select tests.act_as_user('owner');
select public.continue_task((select continued from made), '"Go on"');
select tests.act_as_nobody();
select is(tests.code_of($$select private.find_tool_token('early')$$), 'UNAUTHORIZED', 'continuing the task does not restore it');
select pg_temp.issue((select continued from made), 'late');
select is(tests.code_of($$select private.find_tool_token('late')$$), 'none', 'the continued task''s calls get new tokens');
select is(tests.code_of($$select private.find_tool_token('beside')$$), 'none', 'tokens of other tasks stay valid');

select * from finish();
rollback;
