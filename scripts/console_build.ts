/** `deno task console:build`: builds the console as files for any static host. */
import { resolve } from "node:path";
import { isSecretKey } from "../console/src/project/project_config.ts";
import { buildConsole, CONSOLE_DIST } from "./console/build_console.ts";
import { writeHostedConsole } from "./console/hosted_console.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { writeLine, writeProgress } from "./terminal.ts";

await runCommand(
  {
    name: "deno task console:build",
    summary: "Builds the console; with a project, as a folder for any static host.",
    options: {
      project: {
        type: "string",
        placeholder: "URL",
        help: "The project's URL, such as https://abc.supabase.co.",
      },
      key: { type: "string", placeholder: "KEY", help: "The project's publishable key." },
      schema: {
        type: "string",
        placeholder: "NAME",
        help: "The schema that supaswarm init chose. Default: public.",
      },
      out: {
        type: "string",
        placeholder: "FOLDER",
        help: "Target folder. Default: console/dist, without a project.",
      },
    },
  },
  async ({ values: { project, key, schema, out } }) => {
    if (project === undefined && key === undefined && out === undefined) {
      await build();
      return writeLine(`Built ${CONSOLE_DIST}`);
    }
    if (project === undefined || key === undefined || out === undefined) {
      throw new CommandError(
        "Cannot build the console: pass --project, --key and --out together, or none of them",
      );
    }
    assertUsable(project, key);
    await build();
    await writeHostedConsole({ apiUrl: project, publishableKey: key, schema, folder: out });
    writeLine(`Wrote the console of ${project} to ${resolve(out)}`);
  },
);

/** @throws CommandError before anything is built */
function assertUsable(project: string, key: string): void {
  if (isSecretKey(key)) {
    throw new CommandError(
      "Cannot build the console: --key is a secret key, and everyone who opens the page can read " +
        "it. Pass the publishable key (sb_publishable_…) of the project",
    );
  }
  if (!/^https?:$/.test(URL.parse(project)?.protocol ?? "")) {
    throw new CommandError(
      `Cannot build the console: --project ${project} is not an http or https URL`,
    );
  }
}

async function build(): Promise<void> {
  writeProgress("Building the console …");
  await buildConsole();
}
