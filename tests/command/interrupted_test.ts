import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { areGone, descendants, findDescendant, freezeDatabase } from "../stack/process_tree.ts";
import { installPacked, packCommand } from "./packed_command.ts";
import { createUserProject } from "./user_project.ts";

/** A command of this repository, or of a project, that a test interrupts. */
interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const START: Command = script("start", "--ephemeral", "--port", "0", "--no-console", "--json");
const DEMO: Command = script("demo", "--json");

function script(name: string, ...args: readonly string[]): Command {
  return {
    program: Deno.execPath(),
    args: ["run", "--allow-all", join(PROJECT_ROOT, "scripts", `${name}.ts`), ...args],
  };
}

/**
 * Runs a command until `act` has brought it to where it waits, sends it the signals, and waits for
 * its end and that of all its processes.
 *
 * @returns Its exit code.
 */
async function interrupt(
  { program, args, cwd, env = {} }: Command,
  act: (pid: number) => Promise<unknown>,
  signals: readonly Deno.Signal[],
): Promise<number> {
  const command = new Deno.Command(program, {
    args: [...args],
    ...cwd === undefined ? {} : { cwd },
    env,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  await act(command.pid);
  const children = await descendants(command.pid);
  assert.ok(children.length > 0);
  for (const signal of signals) command.kill(signal);
  const { code } = await command.status;
  await waitFor(() => areGone(children), { what: "the end of every process" });
  return code;
}

/** Waits until a stack starts its functions, and stops its database. */
async function freezeServing(pid: number): Promise<void> {
  await findDescendant(pid, "isolate_process.ts");
  await freezeDatabase(pid);
}

for (const [name, command] of Object.entries({ start: START, demo: DEMO })) {
  Deno.test(`${name} ends with SIGTERM and with SIGINT while its database does not answer`, async () => {
    assert.equal(await interrupt(command, freezeDatabase, ["SIGTERM"]), 143);
    assert.equal(await interrupt(command, freezeServing, ["SIGINT"]), 130);
  });

  Deno.test(`${name} ends at once with a second signal, and with it its processes`, async () => {
    assert.equal(await interrupt(command, freezeServing, ["SIGINT", "SIGTERM"]), 143);
  });
}

Deno.test("supaswarm dev ends with a signal, while it downloads and while its database does not answer", async (t) => {
  await using packed = await packCommand();
  await using project = await createUserProject();
  await installPacked(project, packed);
  const added = await project.run("npx", "--no-install", "supaswarm", "init", "--yes");
  assert.equal(added.code, 0, added.stderr);
  await project.commit();
  const dev: Command = {
    program: "node_modules/.bin/supaswarm",
    args: ["dev", "--port", "0", "--no-console", "--json"],
    cwd: project.root,
  };

  await t.step("the download of packages", async () => {
    const path = join(project.root, "bin");
    const version = JSON.stringify({ version: "99.0.0", path: join(path, "deno") });
    await project.write(
      "bin/deno",
      `#!/bin/sh\nif [ "$1" = eval ]; then echo '${version}'; else exec sleep 1000; fi\n`,
    );
    await Deno.chmod(join(path, "deno"), 0o755);
    const env = { PATH: `${path}:${Deno.env.get("PATH")}` };
    const downloads = (pid: number) => findDescendant(pid, "sleep");

    assert.equal(await interrupt({ ...dev, env }, downloads, ["SIGTERM"]), 143);
    assert.equal(await interrupt({ ...dev, env }, downloads, ["SIGINT"]), 130);
  });
  await t.step("a database that does not answer", async () => {
    assert.equal(await interrupt(dev, freezeDatabase, ["SIGINT"]), 130);
    assert.equal(await interrupt(dev, freezeServing, ["SIGTERM", "SIGTERM"]), 143);
  });
});
