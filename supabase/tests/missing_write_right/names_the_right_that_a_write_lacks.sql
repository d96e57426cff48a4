begin;
set local search_path = public, extensions;
select plan(10);

create table public.boxes (id bigserial primary key, label text, secret text);
create table public.shut (id int);
alter table public.shut enable row level security;
create policy read_all on public.shut for select to authenticated using (true);
create policy change_all on public.shut for update to authenticated using (true);
create policy others on public.shut for delete to service_role using (true);
grant insert (label), update (label) on public.boxes to authenticated;
grant select, insert, update, delete on public.shut to authenticated;
revoke all on sequence public.boxes_id_seq from authenticated;
select tests.create_user('writer');

create function pg_temp.missing(p_table text, p_command text, p_columns jsonb) returns text language sql as
$$ select private.missing_write_right(p_table::regclass, p_command, p_columns) $$;
select tests.act_as_user('writer');
select is(pg_temp.missing('public.boxes', 'delete', '[]'), 'DELETE on public.boxes', 'a right on the table');
select is(pg_temp.missing('public.boxes', 'update', '["secret"]'), 'UPDATE on column secret of public.boxes', 'a right on a column');
select is(pg_temp.missing('public.boxes', 'update', '["label"]'), null, 'a right on each changed column is enough');
select is(pg_temp.missing('public.boxes', 'insert', '["label"]'), 'USAGE on sequence public.boxes_id_seq', 'the sequence of an omitted column');
select is(pg_temp.missing('public.boxes', 'insert', null), null, 'unknown columns lack nothing that is known');
select is(pg_temp.missing('public.boxes', 'insert', '["id", "label"]'), 'INSERT on column id of public.boxes', 'a right on an inserted column');
select is(pg_temp.missing('public.shut', 'insert', '["id"]'), 'a policy of public.shut for INSERT', 'no policy for the command');
select is(pg_temp.missing('public.shut', 'delete', '[]'), 'a policy of public.shut for DELETE', 'a policy for another role');
select is(pg_temp.missing('public.shut', 'update', '["id"]'), null, 'a policy for the command');
select tests.act_as_nobody();
grant usage on sequence public.boxes_id_seq to authenticated;
select tests.act_as_user('writer');
select is(pg_temp.missing('public.boxes', 'insert', '["label"]'), null, 'with USAGE on the sequence nothing is missing');
select tests.act_as_nobody();

select * from finish();
rollback;
