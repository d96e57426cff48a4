begin;
set local search_path = public, extensions;
select plan(14);

select tests.create_user(name) from unnest(array['owner', 'stranger']) as name;
insert into public.mcp_executions (id, feedback_token, mcp_name, tool_name, user_id, execution_time_ms, status)
values
  (md5('own')::uuid, md5('own token')::uuid, 'notes', 'search', tests.user_id('owner'), 1, 'success'),
  (md5('service')::uuid, md5('service token')::uuid, 'notes', 'search', null, 1, 'success');

create function pg_temp.grade(p_user text, p_token text, p_rating text default null, p_score int default null, p_comment text default null)
returns text language sql as $$
  select tests.code_of(format('select private.record_feedback(%L, %L, %L, %L, %L)',
    case when p_user is not null then tests.user_id(p_user) end, md5(p_token)::uuid, p_rating, p_score, p_comment))
$$;

select is(pg_temp.grade('owner', 'own token', 'up'), 'none', 'users grade their own calls');
select is(pg_temp.grade('owner', 'own token', p_score => 4, p_comment => 'Almost'), 'none', 'a user can add to the grade later');
select results_eq(
  'select rating, rating_score, comment, execution_id from public.mcp_feedback',
  $$values ('up', 4, 'Almost', md5('own')::uuid)$$, 'the row is updated and keeps earlier values'
);
select is(pg_temp.grade('stranger', 'own token', 'up'), 'FEEDBACK_TOKEN_NOT_FOUND', 'no user grades another user''s call');
select is(pg_temp.grade(null, 'own token', 'up'), 'FEEDBACK_TOKEN_NOT_FOUND', 'the service does not grade a user''s call');
select is(pg_temp.grade('owner', 'unknown', 'up'), 'FEEDBACK_TOKEN_NOT_FOUND', 'an unknown token grades nothing');
select is(pg_temp.grade('owner', 'service token', 'up'), 'FEEDBACK_TOKEN_NOT_FOUND', 'no user grades the service''s calls');
select is(pg_temp.grade(null, 'service token', 'down'), 'none', 'the service grades its own calls');
select is(pg_temp.grade('owner', 'own token', 'sideways'), '23514', 'a thumb is up or down');
select is(pg_temp.grade('owner', 'own token', p_score => 6), '23514', 'stars range from one to five');

update public.mcp_feedback set created_at = now() - interval '23 hours 59 minutes';
select is(pg_temp.grade('owner', 'own token', 'down'), 'none', 'a grade can be changed within a day');
update public.mcp_feedback set created_at = now() - interval '24 hours 1 second';
select is(pg_temp.grade('owner', 'own token', 'up'), 'FEEDBACK_CLOSED', 'after a day a grade cannot be changed');
select is(
  (select rating from public.mcp_feedback where user_id is not null), 'down', 'the grade is unchanged'
);

select tests.act_as_user('stranger');
select is_empty('select * from public.mcp_feedback', 'other users cannot read it');
select tests.act_as_nobody();

select * from finish();
rollback;
