begin;
set local search_path = public, extensions;
select plan(3);

select tests.create_task();

insert into public.sql_confirmations (
  token_hash, user_id, client_id, tree_hash, params_hash, statement_class, statement, tables, policy_version, max_rows,
  needs_approval, expires_at, used_at, idempotency_key
)
select sha256(shown.name::bytea), tests.user_id('owner'), '', '', '', 'write', shown.name, '{}', 1, 1,
  false, now() - shown.ago, now() - shown.used_ago, case when shown.used_ago is not null then shown.name end
from (values
  ('open', interval '-1 minute', null::interval),
  ('just expired', interval '1 hour', null),
  ('long expired', interval '2 days', null),
  ('used', interval '5 days', interval '5 days')
) as shown (name, ago, used_ago);

select is(private.delete_old_confirmations(10), 1, 'a confirmation that nobody used is deleted');
insert into private.settings (key, value) values ('keep_executions_days', '3');
select is((private.delete_old() ->> 'confirmations')::int, 1, 'a used one is deleted after keep_executions_days');
select is(
  (select string_agg(statement, ', ' order by statement) from public.sql_confirmations),
  'just expired, open', 'others are kept'
);

select * from finish();
rollback;
