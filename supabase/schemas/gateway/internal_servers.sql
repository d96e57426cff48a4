-- Rows of tools for the servers that are part of the product.

create function private.unregistered_servers(p_slugs jsonb)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select coalesce(jsonb_agg(named.slug order by named.slug), '[]')
  from jsonb_array_elements_text(unregistered_servers.p_slugs) as named (slug)
  where not exists (select from public.tools as tool where tool.slug = named.slug);
$$;
comment on function private.unregistered_servers(jsonb) is
  'The slugs that have no row in tools. Called by the functions mcp and mcp-execute.';

create function private.register_servers(p_servers jsonb)
returns void
language sql
set search_path = ''
as $$
  insert into public.tools (slug, name, type, description, config)
  select
    server ->> 'slug',
    -- Names are unique too, and an operator's tool may already have this one.
    case when exists (select from public.tools as tool where tool.name = server ->> 'name')
      then server ->> 'slug' else server ->> 'name' end,
    'internal',
    server ->> 'description',
    jsonb_build_object('server', server ->> 'slug')
  from jsonb_array_elements(register_servers.p_servers) as server
  on conflict do nothing;
$$;
comment on function private.register_servers(jsonb) is
  'Inserts rows into tools for internal servers [{slug, name, description}]; existing rows are not changed. Called by the functions mcp and mcp-execute.';
