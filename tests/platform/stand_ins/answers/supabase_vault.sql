-- The answers of supabase_vault 0.3.1 as `postgres` and to the API roles.

create extension if not exists supabase_vault;
select extversion from pg_extension where extname = 'supabase_vault';
select proname as name, pg_get_function_arguments(oid) as arguments, pg_get_function_result(oid) as result, prosecdef as is_definer
from pg_proc where pronamespace = 'vault'::regnamespace and proname in ('create_secret', 'update_secret')
order by proname collate "C";
select attrelid::regclass::text as relation, attname as name, format_type(atttypid, atttypmod) as type, attnotnull as is_required
from pg_attribute where attrelid in ('vault.secrets'::regclass, 'vault.decrypted_secrets'::regclass) and attnum > 0
order by attrelid::regclass::text collate "C", attnum;
select indexdef from pg_indexes where schemaname = 'vault' and tablename = 'secrets' order by indexname collate "C";
select role, has_schema_privilege(role, 'vault', 'usage') as uses, has_table_privilege(role, 'vault.decrypted_secrets', 'select') as reads,
  has_table_privilege(role, 'vault.secrets', 'delete') as deletes, has_table_privilege(role, 'vault.secrets', 'insert') as inserts,
  has_function_privilege(role, 'vault.create_secret(text, text, text, uuid)', 'execute') as creates
from unnest(array['anon', 'authenticated', 'service_role']) as role;

select vault.create_secret('välue', 'probe_name', 'what it is for') is not null as is_created;
select name, description, decrypted_secret, key_id, secret <> decrypted_secret as is_encrypted, length(nonce) as nonce_bytes from vault.decrypted_secrets where name = 'probe_name';
select vault.create_secret('again', 'probe_name');
select vault.create_secret('nameless') is not null as is_created;
select vault.create_secret('nameless') is not null as is_created;
select count(*) as nameless, count(distinct secret) as ciphertexts from vault.secrets where name is null;
select vault.create_secret('', 'probe_empty') is not null as is_created;
select decrypted_secret from vault.decrypted_secrets where name = 'probe_empty';
select vault.create_secret(null, 'probe_null');
select vault.create_secret('x', 'probe_described', null);
select vault.create_secret('keyed', 'probe_keyed', '', gen_random_uuid()) is not null as is_created;
select key_id, decrypted_secret from vault.decrypted_secrets where name = 'probe_keyed';
select vault.update_secret(id, 'changed') from vault.secrets where name = 'probe_name';
select name, description, decrypted_secret, updated_at >= created_at as is_dated from vault.decrypted_secrets where name = 'probe_name';
select vault.update_secret(id, new_name => 'probe_renamed', new_description => 'other') from vault.secrets where name = 'probe_name';
select name, description, decrypted_secret from vault.decrypted_secrets where name = 'probe_renamed';
select vault.update_secret(id, new_name => 'probe_empty') from vault.secrets where name = 'probe_renamed';
select vault.update_secret(id) from vault.secrets where name = 'probe_renamed';
select vault.update_secret(gen_random_uuid(), 'nobody');
select vault.update_secret(id, '') from vault.secrets where name = 'probe_renamed';
select decrypted_secret from vault.decrypted_secrets where name = 'probe_renamed';

grant usage on schema public to service_role;
set role service_role;
select vault.create_secret('of service', 'probe_service') is not null as is_created;
select decrypted_secret from vault.decrypted_secrets where name = 'probe_service';
insert into vault.secrets (secret, nonce) values ('x', '');
update vault.secrets set name = 'x';
delete from vault.secrets where name = 'probe_service';
reset role;
set role authenticated;
select decrypted_secret from vault.decrypted_secrets;
select vault.create_secret('x');
reset role;
set role anon;
select secret from vault.secrets;
reset role;
delete from vault.secrets where name like 'probe_%' or name is null;
