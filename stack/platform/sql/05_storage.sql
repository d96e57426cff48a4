-- Buckets and objects. Policies apply to the rows; the Storage server stores the bytes.

create type storage.buckettype as enum ('STANDARD', 'ANALYTICS', 'VECTOR');

create table storage.buckets (
  id text primary key,
  name text not null unique check (length(name) <= 100),
  owner uuid,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  public boolean default false,
  avif_autodetection boolean default false,
  file_size_limit bigint,
  allowed_mime_types text[],
  owner_id text,
  type storage.buckettype not null default 'STANDARD',
  versioning_status text not null default 'DISABLED'
);
comment on column storage.buckets.owner is 'Deprecated: use owner_id.';

create table storage.objects (
  id uuid primary key default gen_random_uuid(),
  bucket_id text references storage.buckets (id),
  name text,
  owner uuid,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  last_accessed_at timestamptz default now(),
  metadata jsonb,
  path_tokens text[] generated always as (string_to_array(name, '/')) stored,
  version text,
  owner_id text,
  user_metadata jsonb,
  archived_at timestamptz,
  is_delete_marker boolean not null default false,
  is_versioned boolean not null default false,
  unique (bucket_id, name)
);
comment on column storage.objects.owner is 'Deprecated: use owner_id.';
create index name_prefix_search on storage.objects (name text_pattern_ops);

alter table storage.buckets enable row level security;
alter table storage.objects enable row level security;

-- For policies -----------------------------------------------------------------------------------

create function storage.foldername(name text) returns text[]
language sql
immutable
as $$
  select (string_to_array(name, '/'))[1 : cardinality(string_to_array(name, '/')) - 1];
$$;

create function storage.filename(name text) returns text
language sql
immutable
as $$
  select (string_to_array(name, '/'))[cardinality(string_to_array(name, '/'))];
$$;

create function storage.extension(name text) returns text
language sql
immutable
as $$
  select reverse(split_part(reverse(storage.filename(name)), '.', 1));
$$;

create function storage.operation() returns text
language sql
stable
as $$
  select current_setting('storage.operation', true);
$$;
comment on function storage.operation() is
  'The operation of the Storage server, such as storage.object.upload, set for its statement.';

create function storage.allow_any_operation(expected_operations text[]) returns boolean
language sql
stable
as $$
  select coalesce(
    regexp_replace(storage.operation(), '^storage\.', '') = any (
      select regexp_replace(expected.operation, '^storage\.', '')
      from unnest(allow_any_operation.expected_operations) as expected(operation)
      where expected.operation <> ''
    ),
    false);
$$;

create function storage.allow_only_operation(expected_operation text) returns boolean
language sql
stable
as $$
  select storage.allow_any_operation(array[allow_only_operation.expected_operation]);
$$;

-- Deleting ---------------------------------------------------------------------------------------

-- Deleting a row would leave its bytes behind. So SQL must not delete rows, not even a superuser's,
-- as on a hosted project. A transaction may delete if it sets storage.allow_delete_query, as the
-- Storage server does.
create function storage.protect_delete() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if coalesce(current_setting('storage.allow_delete_query', true), 'false') = 'true' then
    return null;
  end if;
  raise exception 'Direct deletion from storage tables is not allowed. Use the Storage API instead.'
    using errcode = '42501',
      hint = 'This prevents accidental data loss from orphaned objects.';
end;
$$;

create trigger protect_buckets_delete
before delete on storage.buckets
for each statement execute function storage.protect_delete();

create trigger protect_objects_delete
before delete on storage.objects
for each statement execute function storage.protect_delete();

create function storage.update_updated_at_column() returns trigger
language plpgsql
as $$
begin
  new.updated_at := now();
  return new;
end;
$$;

create trigger update_objects_updated_at
before update on storage.objects
for each row execute function storage.update_updated_at_column();

alter table storage.buckets owner to supaswarm_platform_owner;
alter table storage.objects owner to supaswarm_platform_owner;
grant all on storage.buckets, storage.objects
  to supabase_storage_admin, anon, authenticated, service_role;
grant all on storage.buckets, storage.objects to postgres with grant option;
