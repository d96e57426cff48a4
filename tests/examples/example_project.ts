import { join } from "node:path";
import { copyFolder } from "../../scripts/files/copy_folder.ts";
import { buildClient, type BuiltPackage } from "../../scripts/package/build_package.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";

/** A copy of an example with its packages installed. */
export interface ExampleProject extends AsyncDisposable {
  readonly folder: string;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The package of the client, built once. */
let built: Promise<BuiltPackage> | undefined;

Deno.test.afterAll(async () => {
  if (built !== undefined) await Deno.remove((await built).folder, { recursive: true });
});

async function packageOfClient(): Promise<BuiltPackage> {
  return await buildClient(await Deno.makeTempDir({ prefix: "supaswarm-client-" }));
}

/** Copies an example, and installs its packages and the client as its README says. */
export async function copyExample(name: string): Promise<ExampleProject> {
  const folder = await Deno.makeTempDir({ prefix: `supaswarm-${name}-` });
  await copyFolder(join(PROJECT_ROOT, "examples", name), folder, { except: ["node_modules"] });
  const path = join(folder, "package.json");
  const manifest = JSON.parse(await Deno.readTextFile(path)) as Manifest;
  // Built in its place, because Deno installs no package from a folder.
  const { supaswarm: _, ...dependencies } = manifest.dependencies;
  await Deno.writeTextFile(path, JSON.stringify({ ...manifest, dependencies }));
  await runProgram(Deno.execPath(), ["install", "--no-lock"], { cwd: folder });
  await copyFolder(
    (await (built ??= packageOfClient())).folder,
    join(folder, "node_modules/supaswarm"),
  );
  return { folder, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

/** How a program runs. */
export interface ProgramOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What a person types. */
  readonly input?: string;
}

/** Runs a program, and returns what it printed. @throws Error with its output if it fails */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env = {}, input = "" }: ProgramOptions,
): Promise<string> {
  const child = new Deno.Command(program, {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  if (success) return decoder.decode(stdout);
  throw new Error(
    `${program} ${args.join(" ")} failed:\n${decoder.decode(stdout)}${decoder.decode(stderr)}`,
  );
}

/** The version that a program prints; null where it is not installed. */
export async function versionOf(program: string): Promise<string | null> {
  try {
    return (await runProgram(program, ["--version"], { cwd: PROJECT_ROOT })).trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
