begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_family(1) as id;
create temp table child on commit drop as select id from public.tasks where parent_id = (select id from made);
grant select on made, child to authenticated;
select tests.create_user('stranger');

select tests.act_as_user('owner');
select ok(private.is_own_channel('supaswarm:master:' || (select id from made)), 'the master''s');
select ok(private.is_own_channel('supaswarm:task:' || (select id from child)), 'a subtask''s');
select ok(not private.is_own_channel('supaswarm:master:' || (select id from child)), 'a subtask is no master');
select tests.act_as_user('stranger');
select ok(not private.is_own_channel('supaswarm:task:' || (select id from made)), 'not a stranger''s');
select tests.act_as_nobody();

select * from finish();
rollback;
