-- Versions of supabase-sql-context.md: what a project has learned about writing SQL for its database.

create table private.sql_contexts (
  version int generated always as identity primary key,
  content text not null,
  document jsonb not null,
  published_at timestamptz not null default now()
);
comment on table private.sql_contexts is
  'Published versions of supabase-sql-context.md; the latest one is used. Written by deno task context:push and deno task start.';
comment on column private.sql_contexts.content is 'The file as published, without the constants in its queries.';
comment on column private.sql_contexts.document is 'The parsed file: {overview, patterns, fixes, insights, modelNotes}.';
alter table private.sql_contexts enable row level security;

create function private.sql_context_version()
returns int
language sql
stable
set search_path = ''
as $$
  select max(version) from private.sql_contexts;
$$;
comment on function private.sql_context_version() is 'The current version of the context, or null. Called with the SQL policy.';

create function private.read_sql_context()
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_build_object('version', version, 'document', document, 'content', content, 'published_at', published_at)
  from private.sql_contexts
  order by version desc
  limit 1;
$$;
comment on function private.read_sql_context() is
  'The current context {version, document, content, published_at}, or null. Called by the SQL tools when the version has changed.';

create function private.publish_sql_context(p_content text, p_document jsonb)
returns int
language plpgsql
set search_path = ''
as $$
declare
  c_kept_versions constant int := 50;
  v_version int;
begin
  -- Concurrent calls get two versions in the order of their commits.
  lock table private.sql_contexts in share row exclusive mode;
  select version into v_version
  from private.sql_contexts
  where version = private.sql_context_version() and content = p_content;
  if found then
    return v_version;
  end if;
  insert into private.sql_contexts (content, document) values (p_content, p_document) returning version into v_version;
  delete from private.sql_contexts where version <= v_version - c_kept_versions;
  return v_version;
end;
$$;
comment on function private.publish_sql_context(text, jsonb) is
  'Publishes a context and returns its version; the current version is returned when its content is the same. The last 50 versions are kept.';
