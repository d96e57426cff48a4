-- What a project has learned about writing SQL for its database: versions of supabase-sql-context.md.

create table private.sql_contexts (
  version int generated always as identity primary key,
  content text not null,
  document jsonb not null,
  published_at timestamptz not null default now()
);
comment on table private.sql_contexts is
  'Published versions of supabase-sql-context.md; the latest one is used. Written by deno task context:push and deno task start.';
comment on column private.sql_contexts.content is 'The file as it was published, without the constants of its queries.';
comment on column private.sql_contexts.document is 'What is read off the file: {overview, patterns, fixes, insights, modelNotes}.';
alter table private.sql_contexts enable row level security;

create function private.sql_context_version()
returns int
language sql
stable
set search_path = ''
as $$
  select max(version) from private.sql_contexts;
$$;
comment on function private.sql_context_version() is 'The version of the context that is used, or null. Called with the SQL policy.';

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
  'The context that is used: {version, document, content, published_at}, or null. Called by the SQL tools when the version has changed.';

create function private.publish_sql_context(p_content text, p_document jsonb)
returns int
language plpgsql
set search_path = ''
as $$
declare
  c_kept_versions constant int := 50;
  v_version int;
begin
  -- Two who publish at once get two versions in the order of their commits.
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
  'Makes a context the one that is used and returns its version; what is used already keeps its version. The last 50 are kept.';
