import assert from "node:assert/strict";
import { join } from "node:path";
import { SUPABASE_CLI } from "../../client/command/supabase_cli.ts";
import { runSupabaseCli } from "../../scripts/deploy/supabase_cli.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import {
  type CommandHelp,
  commandProblem,
  readHelp,
  type WrittenCommand,
  writtenCommands,
} from "./supabase_commands.ts";

const [, PINNED = ""] = SUPABASE_CLI.split("@");
/** What people read: pages, skills, and sources with messages. */
const READ = /\.(md|txt|ya?ml|json|tsx?|sql|vue|sh)$/;
/** Not for users: tests, generated files, and what changed. */
const UNREAD =
  /^(tests|lab|shared\/vendor|supabase\/migrations)\/|_test\.ts$|CHANGELOG\.md|\.lock$/;
/** Labels in the reports of contributors' checks, not commands. */
const LABELS = /^scripts\/(deploy|types)\//;

async function projectCommands(): Promise<WrittenCommand[]> {
  const { stdout } = await new Deno.Command("git", { args: ["ls-files"], cwd: PROJECT_ROOT })
    .output();
  const paths = new TextDecoder().decode(stdout).trim().split("\n")
    .filter((path) => READ.test(path) && !UNREAD.test(path) && !LABELS.test(path));
  const found = await Promise.all(
    paths.map(async (path) =>
      writtenCommands(path, await Deno.readTextFile(join(PROJECT_ROOT, path)), PINNED)
    ),
  );
  return found.flat();
}

/** The help of the pinned CLI for each of the commands. */
async function helpOf(commands: readonly WrittenCommand[]): Promise<Map<string, CommandHelp>> {
  const helps = new Map<string, CommandHelp>();
  for (const words of new Set(commands.map((command) => command.words))) {
    const { output } = await runSupabaseCli([...words.split(" "), "--help"]);
    helps.set(words, readHelp(words, output));
  }
  return helps;
}

Deno.test("the pinned Supabase CLI takes each command that is printed or documented, and none of them changes the stack of this machine", async (t) => {
  const commands = await projectCommands();
  const helps = await helpOf(commands);
  const problemsOf = (some: readonly WrittenCommand[]) =>
    some.flatMap((command) => {
      const help = helps.get(command.words);
      return help === undefined ? [] : commandProblem(command, help, PINNED) ?? [];
    });

  await t.step("all of the project", () => {
    assert.ok(commands.length > 20, `${commands.length}`);
    assert.ok(commands.some(({ place }) => place.startsWith("client/command/init.ts")));
    assert.deepEqual(problemsOf(commands), []);
  });
  await t.step(
    "not one that forgets --remote, is of another version or has an unknown option",
    () => {
      const text = [
        "Run `npx supabase db push`.",
        'const hint = "Run supabase db push --include-all.";',
        "npx -y supabase@2.9.0 functions deploy --use-api",
        "npx -y supabase@3.1.0 db push --remote --linked --yes",
        "npx -y supabase@3.1.0 db query --yes \\",
        '  --remote="$DATABASE_URL" "select 1" # it is --remote',
      ].join("\n");

      assert.deepEqual(problemsOf(writtenCommands("page.md", text, PINNED)), [
        "page.md:1: supabase db push changes the stack of this machine: add --remote",
        "page.md:2: supabase db push --include-all changes the stack of this machine: add --remote",
        "page.md:3: supabase functions deploy --use-api names version 2.9.0",
        "page.md:4: supabase db push --remote --linked --yes has no option --linked",
      ]);
    },
  );
});

Deno.test("readHelp() refuses the help of another command", () => {
  assert.throws(() => readHelp("db psuh", "USAGE\n  supabase db <subcommand>\n"), /no command/);
});
