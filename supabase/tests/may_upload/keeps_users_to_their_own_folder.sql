begin;
set local search_path = public, extensions;
select plan(10);

select tests.create_user('owner'), tests.create_user('stranger');
create function pg_temp.may(p_name text, p_owner text default 'owner') returns boolean language sql as $$
  select private.may_upload(tests.user_id(p_owner) || '/' || p_name)
$$;
select tests.act_as_user('owner');
select ok(pg_temp.may('Report.PDF'), 'a type that tasks accept is allowed');
select ok(pg_temp.may('2026/notes.md'), 'a subfolder of the user''s folder is allowed');
select ok(not pg_temp.may('tool.exe') and not pg_temp.may('notes'), 'another type or no extension is refused');
select ok(not pg_temp.may('report.pdf', 'stranger'), 'another user''s folder is refused');
select ok(not pg_temp.may('../x/report.pdf') and not pg_temp.may('a//b.pdf') and not pg_temp.may('./b.pdf'), 'a path traversal is refused');
select ok(not private.may_upload('report.pdf'), 'a path outside the user folders is refused');

select set_config('request.jwt.claims',
  (current_setting('request.jwt.claims')::jsonb || '{"supaswarm_actor": "agent"}')::text, true);
select ok(not pg_temp.may('report.pdf'), 'an agent cannot upload');

select tests.act_as_nobody();
update private.quotas set amount = 100 where name = 'stored_bytes';
insert into storage.objects (bucket_id, name, metadata)
values ('supaswarm-data', tests.user_id('owner') || '/full.pdf', '{"size": 100}');
select tests.act_as_user('owner');
select ok(not pg_temp.may('report.pdf'), 'uploads above the quota are refused');
select tests.act_as_user('stranger');
select ok(pg_temp.may('report.pdf', 'stranger'), 'each user''s quota is counted separately');

select tests.act_as_nobody();
delete from auth.users where id = tests.user_id('stranger');
select tests.act_as_user('stranger');
select ok(not pg_temp.may('report.pdf', 'stranger'), 'a deleted user, whose token is still valid, uploads nothing');
select tests.act_as_nobody();

select * from finish();
rollback;
