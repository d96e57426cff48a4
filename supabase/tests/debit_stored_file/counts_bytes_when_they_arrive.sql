begin;
set local search_path = public, extensions;
select plan(7);

select tests.create_user('owner'), tests.create_user('stranger');
update private.quotas set amount = 100 where name = 'stored_bytes';
create function pg_temp.store(p_folder text, p_name text, p_size int) returns text language sql as $$
  select tests.code_of(format(
    $q$insert into storage.objects (bucket_id, name, metadata) values ('supaswarm-data', %L, '{"size": %s}')
      on conflict (bucket_id, name) do update set metadata = excluded.metadata$q$, p_folder || '/' || p_name, p_size))
$$;
create function pg_temp.size_of(p_name text) returns text language sql as $$
  select metadata ->> 'size' from storage.objects where name = tests.user_id('owner') || '/' || p_name
$$;

select pg_temp.store(tests.user_id('owner')::text, 'a.pdf', 80);
select is(pg_temp.size_of('a.pdf'), '80', 'a file within the quota is stored');
select is(pg_temp.store(tests.user_id('owner')::text, 'b.pdf', 30), '42501', 'a file that exceeds it is refused, although its upload was permitted');
select pg_temp.store(tests.user_id('owner')::text, 'a.pdf', 100);
select is(pg_temp.size_of('a.pdf'), '100', 'a replaced file counts once');
select is(pg_temp.store(tests.user_id('owner')::text, 'a.pdf', 101), '42501', 'and cannot grow beyond the quota');
update private.quotas set amount = 50 where name = 'stored_bytes';
select lives_ok($$update storage.objects set metadata = metadata || '{"size": 90}'$$, 'a file may shrink above a lowered quota');
select pg_temp.store(tests.user_id('stranger')::text, 'a.pdf', 40);
select is((select count(*) from storage.objects)::int, 2, 'each user''s quota is counted separately');
select pg_temp.store(gen_random_uuid()::text, 'b/c.pdf', 1000);
select is((select count(*) from storage.objects)::int, 3, 'files of jobs are counted by their tasks');

select * from finish();
rollback;
