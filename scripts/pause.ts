/** `deno task pause`: lists what is paused, and lets new work wait. */
import type { Sql } from "../shared/platform/db/sql_client.ts";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { usePlatform } from "./cli/use_database.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { formatTable } from "./sql/format_table.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { writeLine } from "./terminal.ts";

await runCommand({
  name: "deno task pause",
  summary: "Lists what is paused; with a kind, lets its new work wait until you resume it.",
  positionals: "[project | agent|tool|server|provider|schedule|key <name>]",
  options: {
    reason: {
      type: "string",
      placeholder: "TEXT",
      help: "Why; everybody whom it concerns reads it.",
    },
    running: {
      type: "string",
      placeholder: "finish|cut",
      help: "Lets running tasks go on, or returns them to continue later. Default: finish.",
    },
    until: {
      type: "string",
      placeholder: "TIME",
      help: "When it ends by itself, such as 2027-01-31T08:00Z.",
    },
    db: DATABASE_OPTION,
    json: { type: "boolean", help: "Print the result as one line of JSON." },
  },
}, async ({ values, positionals: [kind, name, ...others] }) => {
  if (others.length > 0) {
    throw new CommandError(`Cannot pause "${others.join(" ")}": name one thing`);
  }
  const { reason, running = "finish", until } = values;
  if (kind !== undefined && reason === undefined) {
    throw new CommandError(`Cannot pause the ${kind}: say why with --reason`);
  }
  if (until !== undefined && Number.isNaN(Date.parse(until))) {
    throw new CommandError(`Cannot use --until ${until}: write a time such as 2027-01-31T08:00Z`);
  }
  const url = await findDatabaseUrl(values.db, await readEnvironment(PROJECT_ROOT));
  await usePlatform(url, { applicationName: "supaswarm pause" }, async (sql) => {
    if (kind !== undefined) {
      await sql`
        select public.pause_work(
          p_kind => ${kind}, p_name => ${name ?? null}, p_reason => ${reason ?? ""},
          p_running => ${running}, p_until => ${until ?? null}::timestamptz
        )`;
    }
    const paused = await listPauses(sql);
    if (values.json) return writeLine(JSON.stringify(paused));
    writeLine(paused.length === 0 ? "Nothing is paused" : formatTable([...paused]));
  });
});

async function listPauses(sql: Sql) {
  return await sql`
    select kind, name, reason, running, to_char(paused_at at time zone 'utc', 'YYYY-MM-DD HH24:MI') as since,
      to_char(ends_at at time zone 'utc', 'YYYY-MM-DD HH24:MI') as until,
      coalesce(paused_by, 'the service') as by, waiting_count::int as waiting
    from public.paused_work`;
}
