/** A use of an extension by the project that Postgres does not track. */
interface Use {
  readonly extension: string;
  /** Returns rows if there is such a use. */
  readonly query: string;
  /** A table of another extension that the query reads, which may be missing. */
  readonly reads?: string;
}

const USES: readonly Use[] = [
  { extension: "pg_cron", query: "select from cron.job" },
  { extension: "pgmq", query: "select from pgmq.meta" },
  { extension: "supabase_vault", query: "select from vault.secrets" },
  {
    extension: "pg_net",
    query:
      "select from pg_catalog.pg_proc where prosrc ~ '\\mnet\\.http_' and pronamespace <> 'net'::regnamespace",
  },
  {
    extension: "pg_net",
    query: "select from cron.job where command ~ '\\mnet\\.http_'",
    reads: "cron.job",
  },
];

/** SQL that remembers the extensions which the installation has created. */
export function noteCreatedExtensions(inner: string): string {
  return `create temporary table supaswarm_created_extensions on commit drop as
select name from ${inner}.created_extensions;`;
}

/** SQL that drops the noted extensions unless something else uses them. */
export function dropCreatedExtensions(): string {
  // Postgres plans a query when it first runs it, and each of these needs its extension.
  const checks = USES.map(({ extension, query, reads }) => {
    const exists = reads === undefined ? "" : ` and to_regclass('${reads}') is not null`;
    return `    if v_name = '${extension}'${exists} then
      if exists (${query}) then
        continue;
      end if;
    end if;`;
  });
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
