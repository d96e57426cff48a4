import { z } from "../shared/vendor/zod.js";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { usePlatform } from "./cli/use_database.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { writeLine } from "./terminal.ts";

const removedRow = z.tuple([z.object({
  removed: z.object({
    project_id: z.string(),
    slug: z.string(),
    document_count: z.int(),
    chunk_count: z.int(),
    member_count: z.int(),
  }),
})]);

await runCommand({
  name: "deno task quoth:remove",
  summary: "Removes a Quoth project: its documents, chunks, members, syncs and secrets.",
  positionals: "SLUG",
  options: {
    yes: { type: "boolean", help: "Remove it without confirmation." },
    db: DATABASE_OPTION,
    json: { type: "boolean", help: "Print the result as one line of JSON." },
  },
}, async ({ values, positionals }) => {
  const [slug, ...others] = positionals;
  if (slug === undefined || others.length > 0) {
    throw new CommandError(
      "Cannot remove: pass one project by its slug or id, as in deno task quoth:remove my-docs",
    );
  }
  if (!values.yes) confirmRemoval(slug);
  const dbUrl = await findDatabaseUrl(values.db, await readEnvironment(PROJECT_ROOT));

  await usePlatform(dbUrl, { applicationName: "quoth-remove" }, async (sql) => {
    const rows = await sql`select private.delete_project(${slug}) as removed`;
    const [{ removed }] = removedRow.parse([...rows]);
    writeLine(
      values.json
        ? JSON.stringify(removed)
        : `Removed ${removed.slug}: ${removed.document_count} documents, ` +
          `${removed.chunk_count} chunks, ${removed.member_count} members`,
    );
  });
});

/** @throws CommandError unless a person confirms it. */
function confirmRemoval(slug: string): void {
  if (!Deno.stdin.isTerminal()) {
    throw new CommandError(
      `Cannot remove ${slug}: pass --yes, because there is no terminal for a confirmation`,
    );
  }
  if (!confirm(`Remove the project ${slug} with all of its documents?`)) {
    throw new CommandError(`Did not remove ${slug}: the removal was not confirmed`);
  }
}
