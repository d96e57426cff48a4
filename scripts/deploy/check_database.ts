import { z } from "../../shared/vendor/zod.js";
import { remoteFlag, runSupabaseCli } from "./supabase_cli.ts";

const ADVICE = z.array(
  z.object({ name: z.string(), level: z.string(), detail: z.string() }).loose(),
);

/**
 * Advice of the CLI's linter that the project accepts, by lint name, each with a reason. All other
 * advice is a problem.
 */
const EXPLAINED: Readonly<Record<string, string>> = {};

/**
 * Pushes the migrations to an empty database with the real CLI as role `postgres`, and runs its
 * advisors and its linter. Returns the problems.
 *
 * @param url URL of a server that has the platform's SQL and no migrations.
 */
export async function checkDatabase(projectRoot: string, url: string): Promise<string[]> {
  const remote = remoteFlag(url);
  const run = (...args: string[]) => runSupabaseCli([...args, remote, "--workdir", projectRoot]);

  const push = await run("db", "push", "--yes");
  if (!push.succeeded) return [`supabase db push:\n${push.output.trim()}`];
  const again = await run("db", "push", "--yes");
  const problems = /up to date/i.test(again.output)
    ? []
    : [`A second supabase db push finds something to do:\n${again.output.trim()}`];

  const advisors = await run("db", "advisors", "--level", "warn", "--fail-on", "error");
  if (!advisors.succeeded) problems.push(`supabase db advisors:\n${advisors.output.trim()}`);
  else problems.push(...unexplained(advisors.stdout));

  const lint = await run("db", "lint", "--level", "warning", "--fail-on", "warning");
  if (!lint.succeeded) problems.push(`supabase db lint:\n${lint.output.trim()}`);
  return problems;
}

function unexplained(output: string): string[] {
  const start = output.indexOf("[");
  if (start < 0) return [];
  return ADVICE.parse(JSON.parse(output.slice(start, output.lastIndexOf("]") + 1)))
    .filter(({ name }) => EXPLAINED[name] === undefined)
    .map(({ name, level, detail }) => `advisor ${level} ${name}: ${detail}`);
}
