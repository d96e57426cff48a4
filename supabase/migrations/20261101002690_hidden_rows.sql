-- Whether a plan would tell the caller about rows that the caller may not see.
--
-- The planner's estimates, and its choice of a plan, come from statistics over all rows of a table;
-- EXPLAIN ANALYZE counts rows before a policy removes them. So a plan is only shown when the caller
-- may read every row of every relation in it.

create function private.reads_hidden_rows()
returns boolean
language sql
volatile
set search_path = ''
as $$
  -- Planning locks every relation that the statement reads: through views, policies, partitions and
  -- inlined functions too.
  select exists (
    select
    from pg_catalog.pg_locks as held
    join pg_catalog.pg_class as relation on relation.oid = held.relation
    where held.pid = pg_backend_pid()
      and held.locktype = 'relation'
      and held.database = (select oid from pg_catalog.pg_database where datname = current_database())
      -- Relations of PostgreSQL itself have smaller ids.
      and relation.oid >= 16384
      and (
        relation.relkind in ('v', 'f')
        or relation.relkind in ('r', 'p', 'm') and (
          row_security_active(relation.oid)
          -- Rights on a parent extend to its partitions and children.
          or not has_table_privilege(relation.oid, 'select') and not exists (
            select from pg_catalog.pg_inherits as child where child.inhrelid = relation.oid
          )
        )
      )
  );
$$;
comment on function private.reads_hidden_rows() is
  'Whether a relation that this transaction has planned or read so far hides rows from the calling role: by row level security, a view, a foreign server or a missing right to the whole table. Called by the SQL tools as the caller, after planning a statement.';
grant execute on function private.reads_hidden_rows() to authenticated;
