-- Secrets with the interface of supabase_vault 0.3.1.
--
-- Encryption: XOR with a SHA-256 keystream in counter mode under a random nonce, and a SHA-256 tag
-- over nonce, associated data and ciphertext. It needs no extension and keeps plain values out of
-- vault.secrets, backups of that table, logs and query results.
-- Limits: the key is a row of this database that is granted to nobody. Anyone with the data folder,
-- a superuser, and a role that can read all data (`postgres`, which may decrypt anyway) can read the
-- secrets. A hosted project stores its key outside the database.

create function vault._crypto_aead_det_noncegen() returns bytea
language sql
volatile
set search_path = ''
as $$
  select pg_catalog.uuid_send(pg_catalog.gen_random_uuid());
$$;

create table vault.secrets (
  id uuid primary key default gen_random_uuid(),
  name text,
  description text not null default '',
  secret text not null,
  key_id uuid,
  nonce bytea default vault._crypto_aead_det_noncegen(),
  created_at timestamptz not null default current_timestamp,
  updated_at timestamptz not null default current_timestamp
);
create unique index secrets_name_idx on vault.secrets (name) where name is not null;
comment on table vault.secrets is 'Secrets. The column secret holds the ciphertext in base64.';

create table vault.root_key (
  is_only_row boolean primary key default true check (is_only_row),
  key bytea not null
);
comment on table vault.root_key is 'The key of all secrets, granted to nobody.';
insert into vault.root_key (key)
values (sha256(
  uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

select pg_catalog.pg_extension_config_dump('vault.secrets', '');
select pg_catalog.pg_extension_config_dump('vault.root_key', '');

-- XORs `input` with the keystream of (key, nonce). The function is its own inverse.
create function vault._apply_keystream(input bytea, key bytea, nonce bytea) returns bytea
language plpgsql
immutable
set search_path = ''
as $$
declare
  output bytea := input;
  block bytea;
begin
  for i in 0 .. length(input) - 1 loop
    if i % 32 = 0 then
      block := pg_catalog.sha256(key || 'stream'::bytea || nonce || pg_catalog.int4send(i / 32));
    end if;
    output := set_byte(output, i, get_byte(input, i) # get_byte(block, i % 32));
  end loop;
  return output;
end;
$$;

create function vault._crypto_aead_det_encrypt(
  message bytea,
  additional bytea,
  key_id bigint,
  context bytea default 'pgsodium',
  nonce bytea default null
) returns bytea
language plpgsql
stable
security definer -- reads vault.root_key, which no caller may read
set search_path = ''
as $$
declare
  root_key bytea := (select root.key from vault.root_key as root);
  salt bytea := coalesce(nonce, ''::bytea);
  ciphertext bytea := vault._apply_keystream(message, root_key, salt);
begin
  return ciphertext
    || pg_catalog.sha256(root_key || 'tag'::bytea || salt || additional || ciphertext);
end;
$$;

create function vault._crypto_aead_det_decrypt(
  message bytea,
  additional bytea,
  key_id bigint,
  context bytea default 'pgsodium',
  nonce bytea default null
) returns bytea
language plpgsql
stable
security definer -- reads vault.root_key, which no caller may read
set search_path = ''
as $$
declare
  root_key bytea := (select root.key from vault.root_key as root);
  salt bytea := coalesce(nonce, ''::bytea);
  ciphertext bytea := substring(message from 1 for length(message) - 32);
  tag bytea := substring(message from length(message) - 31);
begin
  if tag <> pg_catalog.sha256(root_key || 'tag'::bytea || salt || additional || ciphertext) then
    raise exception 'invalid ciphertext' using errcode = '22000';
  end if;
  return vault._apply_keystream(ciphertext, root_key, salt);
end;
$$;

create view vault.decrypted_secrets as
select
  s.id,
  s.name,
  s.description,
  s.secret,
  convert_from(
    vault._crypto_aead_det_decrypt(
      message => decode(s.secret, 'base64'),
      additional => convert_to(s.id::text, 'utf8'),
      key_id => 0,
      context => 'pgsodium'::bytea,
      nonce => s.nonce),
    'utf8') as decrypted_secret,
  s.key_id,
  s.nonce,
  s.created_at,
  s.updated_at
from vault.secrets as s;
comment on view vault.decrypted_secrets is 'The decrypted secrets.';

create function vault.create_secret(
  new_secret text,
  new_name text default null,
  new_description text default '',
  new_key_id uuid default null -- has no effect since 0.3
) returns uuid
language plpgsql
security definer -- callers have no INSERT on vault.secrets
set search_path = ''
as $$
declare
  secret_id uuid := pg_catalog.gen_random_uuid();
  secret_nonce bytea := vault._crypto_aead_det_noncegen();
begin
  insert into vault.secrets (id, name, description, secret, nonce)
  values (
    secret_id,
    new_name,
    new_description,
    vault._encode_secret(new_secret, secret_id, secret_nonce),
    secret_nonce);
  return secret_id;
end;
$$;

create function vault._encode_secret(value text, secret_id uuid, nonce bytea) returns text
language sql
stable
strict
set search_path = ''
as $$
  select encode(
    vault._crypto_aead_det_encrypt(
      message => convert_to(_encode_secret.value, 'utf8'),
      additional => convert_to(_encode_secret.secret_id::text, 'utf8'),
      key_id => 0,
      context => 'pgsodium'::bytea,
      nonce => _encode_secret.nonce),
    'base64');
$$;

create function vault.update_secret(
  secret_id uuid,
  new_secret text default null,
  new_name text default null,
  new_description text default null,
  new_key_id uuid default null -- has no effect since 0.3
) returns void
language plpgsql
security definer -- callers have no UPDATE on vault.secrets
set search_path = ''
as $$
declare
  new_nonce bytea := vault._crypto_aead_det_noncegen();
begin
  update vault.secrets as s
  set
    name = coalesce(update_secret.new_name, s.name),
    description = coalesce(update_secret.new_description, s.description),
    secret = case
      when update_secret.new_secret is null then s.secret
      else vault._encode_secret(update_secret.new_secret, s.id, new_nonce)
    end,
    nonce = case when update_secret.new_secret is null then s.nonce else new_nonce end,
    updated_at = now()
  where s.id = update_secret.secret_id;
end;
$$;

-- The superuser keeps the tables. The platform's roles get the same rights as on a hosted project:
-- select, delete and the two functions, but no direct insert or update.
revoke all on all tables in schema vault from public;
revoke all on all functions in schema vault from public;
alter table vault.root_key enable row level security;

grant usage on schema vault to postgres with grant option;
grant select, delete on vault.secrets, vault.decrypted_secrets to postgres with grant option;
grant execute on function
  vault.create_secret(text, text, text, uuid),
  vault.update_secret(uuid, text, text, text, uuid),
  vault._crypto_aead_det_decrypt(bytea, bytea, bigint, bytea, bytea)
to postgres with grant option;

grant usage on schema vault to service_role;
grant select, delete on vault.secrets, vault.decrypted_secrets to service_role;
grant execute on function
  vault.create_secret(text, text, text, uuid),
  vault.update_secret(uuid, text, text, text, uuid),
  vault._crypto_aead_det_decrypt(bytea, bytea, bigint, bytea, bytea)
to service_role;
