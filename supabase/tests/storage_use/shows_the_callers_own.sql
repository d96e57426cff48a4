begin;
set local search_path = public, extensions;
select plan(5);

select tests.create_user('owner'), tests.create_user('stranger');
insert into public.conversations (user_id, title) values (tests.user_id('owner'), 'Plans');
insert into private.quotas (name, user_id, amount) values ('ledger_bytes', tests.user_id('owner'), null);

select tests.act_as_user('owner');
select results_eq('select name, used_bytes, quota_bytes from public.storage_use() order by name', $$values
  ('conversation_bytes', 205::bigint, 67108864::bigint), ('ledger_bytes', 0, null), ('ruleset_bytes', 0, 16777216),
  ('stored_bytes', 0, 1073741824), ('trace_bytes', 0, 1073741824)$$, 'each quota on bytes is shown with the use');
select tests.act_as_user('stranger');
select is((select sum(used_bytes)::int from public.storage_use()), 0, 'other users'' bytes are not counted');
select is((select quota_bytes from public.storage_use() where name = 'ledger_bytes'), 268435456::bigint, 'nor their quotas');
reset role;
update private.quotas set amount = null where name = 'stored_bytes' and user_id is null;
insert into storage.objects (bucket_id, name, metadata)
select 'supaswarm-data', owner.id || path, '{"size": 7}'
from (values (tests.user_id('owner'), '/a.txt'), (tests.user_id('owner'), '/b/c.txt'), (tests.user_id('owner'), '0.txt'),
  (tests.user_id('stranger'), '/a.txt')) as owner (id, path);
select tests.act_as_user('owner');
select results_eq($$select used_bytes, quota_bytes from public.storage_use() where name = 'stored_bytes'$$,
  'values (14::bigint, null::bigint)', 'the files in the own folder count, also without a limit');

select tests.act_as_anon();
select throws_ok('select * from public.storage_use()', '42501', null, 'nobody else may ask');

select * from finish();
rollback;
