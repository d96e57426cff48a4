-- What `postgres` may do on a hosted project, and what the platform reserves. Requires a server
-- on which `postgres` is not a superuser.

show search_path;
show timezone;
show wal_level;
select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication from pg_roles where rolname = current_user;
select role, pg_has_role('postgres', role, 'member') as is_member from unnest(array['anon', 'authenticated', 'service_role', 'authenticator', 'supabase_auth_admin', 'supabase_storage_admin', 'supabase_realtime_admin', 'supabase_admin']) as role;
set role supabase_auth_admin;
set role supabase_storage_admin;
set role supabase_realtime_admin;
set role supabase_admin;
set role service_role;
reset role;
set role authenticator;
reset role;
set role anon;
reset role;
alter system set work_mem = '1MB';
create role probe_super superuser;
create schema probe;
create role probe_role;
drop role probe_role;

-- Policies and triggers on the platform's tables -----------------------------------------------

create policy probe on storage.objects for select to authenticated using (true);
alter policy probe on storage.objects using (false);
drop policy probe on storage.objects;
create policy probe on storage.buckets for select to authenticated using (true);
drop policy probe on storage.buckets;
create policy probe on realtime.messages for select to authenticated using (true);
drop policy probe on realtime.messages;
create policy probe on auth.users for select to authenticated using (true);
drop policy probe on auth.users;
create function probe.on_user() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger probe after insert on auth.users for each row execute function probe.on_user();
drop trigger probe on auth.users;
create trigger probe after insert on storage.objects for each row execute function probe.on_user();
drop trigger probe on storage.objects;
create table probe.profiles (id uuid primary key references auth.users (id) on delete cascade);
alter table realtime.messages enable row level security;
alter table storage.objects disable row level security;
alter table auth.users add column nickname text;
alter table auth.users owner to postgres;
create index probe on storage.objects (owner);
drop table auth.audit_log_entries;
drop function auth.uid() cascade;
create or replace function auth.uid() returns uuid language sql as 'select null::uuid';
create table auth.mine (id int);
create table storage.mine (id int);
create table realtime.mine (id int);
create function storage.mine() returns int language sql as 'select 1';
truncate auth.users cascade;
select count(*) from auth.users;
insert into storage.buckets (id, name) values ('probe', 'probe');
update storage.buckets set public = true where id = 'probe';

-- Deleting from Storage ------------------------------------------------------------------------

delete from storage.objects;
delete from storage.buckets where id = 'probe';
delete from storage.buckets where id = 'no such bucket';
set role service_role;
delete from storage.objects;
reset role;
begin;
set local storage.allow_delete_query = 'true';
delete from storage.objects where bucket_id = 'probe';
delete from storage.buckets where id = 'probe';
commit;
select count(*) from storage.buckets where id = 'probe';
begin;
select set_config('storage.allow_delete_query', 'yes', true);
delete from storage.objects;
rollback;
begin;
select set_config('storage.operation', 'storage.object.delete', true);
delete from storage.objects;
rollback;

-- Tables of extensions -------------------------------------------------------------------------

insert into vault.secrets (secret, nonce) values ('x', '');
update vault.secrets set name = 'x';
create extension pg_cron;
insert into cron.job (schedule, command) values ('0 0 1 1 *', 'select 1');
update cron.job set command = 'select 2';
delete from cron.job;
truncate cron.job;
insert into cron.job_run_details (jobid, username, status) values (-1, 'postgres', 'succeeded'), (-2, 'supabase_admin', 'failed');
select jobid, status from cron.job_run_details where jobid < 0;
delete from cron.job_run_details where jobid < 0;
drop extension pg_cron cascade;
create extension file_fdw;
drop schema probe cascade;

-- What new objects in `public` grant -----------------------------------------------------------

create table public.probe (id bigint generated always as identity primary key);
select role, has_table_privilege(role, 'public.probe', 'select') as reads, has_table_privilege(role, 'public.probe', 'insert') as inserts, has_table_privilege(role, 'public.probe', 'truncate') as truncates
from unnest(array['anon', 'authenticated', 'service_role']) as role;
create function public.probe() returns int language sql as 'select 1';
select role, has_function_privilege(role, 'public.probe()', 'execute') as calls from unnest(array['anon', 'authenticated', 'service_role']) as role;
revoke execute on function public.probe() from public;
select role, has_function_privilege(role, 'public.probe()', 'execute') as calls from unnest(array['anon', 'authenticated', 'service_role']) as role;
drop table public.probe;
drop function public.probe();
