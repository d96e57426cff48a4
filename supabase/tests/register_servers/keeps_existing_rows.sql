begin;
set local search_path = public, extensions;
select plan(4);

delete from public.tools where slug in ('alpha', 'beta', 'gamma');
insert into public.tools (slug, name, type, config, is_active)
values
  ('alpha', 'Alpha of the operator', 'internal', '{"server": "alpha", "timeout_ms": 5}', false),
  ('other', 'Beta', 'http_api', '{"method": "GET", "url": "https://beta.example", "parameters": {}}', true);

select is(
  private.unregistered_servers('["gamma", "alpha", "beta"]'), '["beta", "gamma"]'::jsonb,
  'the servers without a row are returned'
);
select private.register_servers('[
  {"slug": "alpha", "name": "Alpha", "description": "a"},
  {"slug": "beta", "name": "Beta", "description": "b"},
  {"slug": "gamma", "name": "Gamma", "description": null}
]'), private.register_servers('[{"slug": "gamma", "name": "Gamma", "description": null}]');

select results_eq(
  $$ select slug, name, is_active from public.tools where slug in ('alpha', 'beta', 'gamma') order by slug $$,
  $$ values ('alpha', 'Alpha of the operator', false), ('beta', 'beta', true), ('gamma', 'Gamma', true) $$,
  'an operator''s row is kept, a taken name is avoided, and a repeated call has no effect'
);
select is(
  (select config from public.tools where slug = 'beta'), '{"server": "beta"}'::jsonb,
  'the row names the server'
);
select is(private.unregistered_servers('["alpha", "beta", "gamma"]'), '[]'::jsonb, 'no server is left without a row');

select * from finish();
rollback;
