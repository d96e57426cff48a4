begin;
set local search_path = public, extensions;
select plan(1);

-- An update that changes no column of an index writes only the row (HOT).
select is_empty(
  $$select index.oid::regclass, attname
    from pg_class as index
    join pg_index on indexrelid = index.oid and indrelid = 'public.tasks'::regclass
    -- Also the columns of expressions and predicates.
    join pg_depend as used on used.objid = index.oid and used.refobjid = indrelid and used.classid = 'pg_class'::regclass
    join pg_attribute on attrelid = indrelid and attnum = used.refobjsubid
    where attname in (
      'lease_expires_at', 'deliveries', 'runs_exclusively', 'attempts', 'updated_at',
      'input_tokens', 'output_tokens', 'cost_micro_usd', 'warnings', 'intermediate_data'
    )$$,
  'what heartbeats and checkpoints write is in no index'
);

select * from finish();
rollback;
