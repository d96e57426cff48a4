begin;
set local search_path = public, extensions;
select plan(4);
create table public.shelves (id int primary key, label text, secret text);
comment on table public.shelves is 'Shelves of a library';
comment on column public.shelves.label is 'As printed';
grant select (id, label), insert (secret) on public.shelves to authenticated;
create table public.cellars (id int);
create schema attic;
create table attic.boxes (id int);
grant usage on schema attic to authenticated;
grant select on attic.boxes to authenticated;
create temporary table exposed on commit drop as
select unnest(policy.exposed_schemas) as name from private.sql_policy as policy;
grant select on exposed to authenticated;

select tests.act_as_user('owner');
select results_eq(
  $$select kind, comment, columns from public.list_tables() where name = 'shelves'$$,
  $$values ('table', 'Shelves of a library',
    '[{"name": "id", "type": "integer", "comment": null}, {"name": "label", "type": "text", "comment": "As printed"}]'::jsonb)$$,
  'a table has the columns that the caller can read, with types and comments'
);
select is_empty($$select from public.list_tables() where name = 'cellars'$$, 'a table without rights is not listed');
select is_empty($$select from public.list_tables() where schema_name not in (select name from exposed)$$, 'only schemas that statements may name are listed');
select is_empty(
  $$select from public.mcp_executions where user_id = (select tests.user_id('owner'))$$,
  'reading the list is no tool call'
);
select tests.act_as_nobody();
select * from finish();
rollback;
