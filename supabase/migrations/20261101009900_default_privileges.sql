-- The project's own functions, tables and sequences get what they got before the first migration.
-- A migration after this one revokes what it does not grant.
do $$
declare
  v_right record;
begin
  for v_right in
    select format(
      'alter default privileges %s grant %s on %s to %s',
      scope, privilege_type, objects, case grantee when 0 then 'public' else grantee::regrole::text end
    ) as statement
    from private.default_privileges
  loop
    execute v_right.statement;
  end loop;
end;
$$;
drop table private.default_privileges;
