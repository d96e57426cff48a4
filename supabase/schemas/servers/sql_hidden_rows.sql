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

create function private.hides_rows_by_policy(p_relation_id oid)
returns boolean
language sql
stable
set search_path = ''
as $$
  with policies as (
    select policy.polpermissive, pg_get_expr(policy.polqual, policy.polrelid) = 'true' as is_open
    from pg_catalog.pg_policy as policy
    where policy.polrelid = hides_rows_by_policy.p_relation_id
      and policy.polcmd in ('*', 'r')
      and exists (
        select from unnest(policy.polroles) as role (id)
        where role.id = 0 or pg_has_role(role.id, 'usage')
      )
  )
  select row_security_active(hides_rows_by_policy.p_relation_id)
    and not (
      exists (select from policies where polpermissive and is_open)
      and not exists (select from policies where not polpermissive and is_open is distinct from true)
    );
$$;
comment on function private.hides_rows_by_policy(oid) is
  'Whether row level security could hide rows of a table from the calling role: it does not if a policy shows all of them and no restrictive one applies. Called by the SQL tools as the caller, before a statement that samples the table.';
grant execute on function private.hides_rows_by_policy(oid) to authenticated;
