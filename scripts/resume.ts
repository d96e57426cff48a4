/** `deno task resume`: ends a pause, so that the work that waited goes on. */
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { usePlatform } from "./cli/use_database.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { writeLine } from "./terminal.ts";

await runCommand({
  name: "deno task resume",
  summary: "Ends a pause, so that the work that waited goes on. deno task pause lists the pauses.",
  positionals: "project | agent|tool|server|provider|schedule|key <name>",
  options: {
    db: DATABASE_OPTION,
    json: { type: "boolean", help: "Print the result as one line of JSON." },
  },
}, async ({ values, positionals: [kind, name, ...others] }) => {
  if (kind === undefined || others.length > 0) {
    throw new CommandError('Cannot resume: name one thing, such as "project" or "agent writer"');
  }
  const url = await findDatabaseUrl(values.db, await readEnvironment(PROJECT_ROOT));
  await usePlatform(url, { applicationName: "supaswarm resume" }, async (sql) => {
    const [row] = await sql`
      select public.resume_work(p_kind => ${kind}, p_name => ${name ?? null}) as is_resumed`;
    const what = [kind, ...(name === undefined ? [] : [name])].join(" ");
    if (row?.is_resumed !== true) {
      throw new CommandError(`Cannot resume ${what}: it is not paused. "pause" lists what is`);
    }
    writeLine(values.json ? JSON.stringify({ kind, name: name ?? "" }) : `Resumed ${what}`);
  });
});
