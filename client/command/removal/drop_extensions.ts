/** Whether something of the project uses an extension in a way that Postgres does not track. */
const USES: Readonly<Record<string, string>> = {
  pg_cron: "select from cron.job",
  pgmq: "select from pgmq.meta",
  supabase_vault: "select from vault.secrets",
  pg_net:
    "select from pg_catalog.pg_proc where prosrc ~ '\\mnet\\.http_' and pronamespace <> 'net'::regnamespace",
};

/** SQL that remembers the extensions which the installation has created. */
export function noteCreatedExtensions(inner: string): string {
  return `create temporary table supaswarm_created_extensions on commit drop as
select name from ${inner}.created_extensions;`;
}

/** SQL that drops the noted extensions unless something else uses them. */
export function dropCreatedExtensions(): string {
  // Postgres plans a query when it first runs it, and each of these needs its extension.
  const checks = Object.entries(USES).map(([name, query]) =>
    `    if v_name = '${name}' then
      if exists (${query}) then
        continue;
      end if;
    end if;`
  );
  return `do $$
declare
  v_name text;
begin
  for v_name in
    select extname from pg_catalog.pg_extension
    where extname in (select name from pg_temp.supaswarm_created_extensions)
  loop
${checks.join("\n")}
    begin
      execute pg_catalog.format('drop extension %I', v_name);
      -- The extension has created its schema, which does not belong to it.
      if to_regnamespace(v_name) is not null then
        execute pg_catalog.format('drop schema %I', v_name);
      end if;
    exception when dependent_objects_still_exist then
      raise notice 'The extension % stays, because the project uses it', v_name;
    end;
  end loop;
end;
$$;`;
}
