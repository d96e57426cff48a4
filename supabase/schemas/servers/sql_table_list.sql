-- The tables that a person's statements can read, for editors: unlike a call of generate_schema, it is no tool call.

create function private.listed_schemas()
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_person_may('list the tables', 'sql:read');
  return (select to_jsonb(policy.exposed_schemas) from private.sql_policy as policy);
end;
$$;
comment on function private.listed_schemas() is
  'The schemas whose tables list_tables() lists. Definer: callers may not read the SQL policy; the function checks the caller itself.';

create function public.list_tables()
returns table (schema_name text, name text, kind text, comment text, columns jsonb)
language sql
stable
set search_path = ''
as $$
  with asked as materialized (
    select private.listed_schemas() as schemas
  )
  select relation.schema_name, relation.name, relation.kind, obj_description(relation.id, 'pg_class'), readable.columns
  from asked
  cross join lateral private.visible_relations(asked.schemas) as relation
  join private.describe_columns((select schemas from asked)) as described on described.relation_id = relation.id
  cross join lateral (
    select jsonb_agg(jsonb_build_object('name', given ->> 'name', 'type', given ->> 'type', 'comment', given ->> 'comment')) as columns
    from json_array_elements(described.columns) as given
    where (given ->> 'is_readable')::boolean
  ) as readable
  where readable.columns is not null
  order by relation.schema_name collate "C", relation.name collate "C";
$$;
comment on function public.list_tables() is
  'The tables and views that the caller''s statements can read, each with its columns [{name, type, comment}]. For signed-in users and their OAuth clients with the scope sql:read. Raises AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.list_tables() from public, anon, authenticated, service_role;
grant execute on function private.listed_schemas(), public.list_tables() to authenticated;
