begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_family(1) as id;
create temp table child on commit drop as select id from public.tasks where parent_id = (select id from made);
grant select on made, child to authenticated;
select tests.create_user('stranger');

select tests.act_as_user('owner');
select ok(private.is_own_channel('supaswarm:master:' || (select id from made)), 'the owner knows the master channel');
select ok(private.is_own_channel('supaswarm:task:' || (select id from child)), 'the owner knows the channel of a subtask');
select ok(not private.is_own_channel('supaswarm:master:' || (select id from child)), 'a subtask id is not a master id');
select tests.act_as_user('stranger');
select ok(not private.is_own_channel('supaswarm:task:' || (select id from made)), 'a stranger''s task channel is refused');
select tests.act_as_nobody();

select * from finish();
rollback;
