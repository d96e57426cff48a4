begin;
set local search_path = public, extensions;
select plan(8);

select tests.quiet_realtime();
create temp table made on commit drop as select tests.create_task() as id;
select tests.create_user('stranger');

create function pg_temp.is_joined() returns boolean language sql as $$
  select private.is_joined('supaswarm:task:' || (select id from made));
$$;

select ok(
  not tests.join_channel('stranger', 'supaswarm:task:' || (select id from made)), 'a stranger may not join'
);
select ok(not pg_temp.is_joined(), 'a refused join changes nothing');
select ok(tests.join_channel('owner', 'supaswarm:master:' || (select id from made)), 'the owner joins the job');
select ok(private.is_joined('supaswarm:master:' || (select id from made)), 'its channel is joined');

create function pg_temp.join_until(p_end timestamptz) returns void language plpgsql as $$
begin
  perform tests.act_as_user('owner');
  perform set_config('request.jwt.claims',
    (current_setting('request.jwt.claims')::jsonb || jsonb_build_object('exp', extract(epoch from p_end)::bigint))::text,
    true);
  perform private.join_channel('supaswarm:task:' || (select id from made));
  perform tests.act_as_nobody();
end;
$$;
grant select on made to authenticated;

select tests.quiet_realtime();
select pg_temp.join_until(clock_timestamp() - interval '11 minutes');
select ok(not pg_temp.is_joined(), 'an expired token no longer keeps its channel');
select pg_temp.join_until(clock_timestamp() + interval '2 hours');
select ok(pg_temp.is_joined(), 'a valid token keeps its channel');
select pg_temp.join_until(clock_timestamp() + interval '1 hour');
select cmp_ok(
  pg_sequence_last_value(private.joined_channels('supaswarm:task:' || (select id from made))), '>=',
  extract(epoch from clock_timestamp() + interval '2 hours')::bigint,
  'the latest expiry counts'
);
select throws_ok(
  $$select set_config('role', 'authenticated', true), setval('private.joined_channels_1', 1)$$, '42501', null,
  'no user can change it'
);

select * from finish();
rollback;
