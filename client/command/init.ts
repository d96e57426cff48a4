import { join } from "node:path";
import { CommandError } from "./errors/command_error.ts";
import { createTwoFilesPatch } from "./deps.ts";
import { chooseFunctionNames } from "./install/choose_function_names.ts";
import { findClashes } from "./install/find_clashes.ts";
import { type InstallPlan, planInstall } from "./install/plan_install.ts";
import { assertCleanTree } from "./project/assert_clean_tree.ts";
import { applyChanges, type NewFile } from "./project/file_changes.ts";
import {
  changedFiles,
  type Manifest,
  MANIFEST_PATH,
  MODULES_PATH,
  readManifest,
} from "./project/manifest.ts";
import { CONFIG_PATH, type Project, readProject } from "./project/project.ts";
import { listNames } from "./project/read_files.ts";
import { type ChosenNames, INSTALLED_SCHEMAS, type InstalledSchema } from "./release/fill_names.ts";
import { readRelease, type Release } from "./release/release.ts";
import { STARTER_AGENT, STARTER_FILES } from "./scaffold/starter_files.ts";
import { supabaseCommand } from "./supabase_cli.ts";
import {
  ask,
  confirm,
  heading,
  isInteractive,
  print,
  printColumns,
  printDiff,
} from "./terminal.ts";

/** Where `supaswarm dev` serves the console, unless `--port` moves it. */
const CONSOLE_URL = "http://127.0.0.1:54323";

/** Options of `supaswarm init`. */
export interface InitOptions {
  readonly root: string;
  readonly schema: string;
  /** Without an agent to start with. */
  readonly bare: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly force: boolean;
}

/** Adds the platform to a project: shows the plan, asks once, and writes it. */
export async function init(options: InitOptions): Promise<void> {
  const { root, dryRun, yes, force } = options;
  const schema = toSchema(options.schema);
  const release = await readRelease();
  const manifest = await readManifest(root);
  if (manifest !== null) return await reportInstalled(root, manifest, release.version);

  const project = await readProject(root);
  const names = { schema, functions: chooseFunctionNames(release.functions, project.functions) };
  assertNoClashes(project, release, names);
  const plan = planInstall(project, release, names, await chooseStarter(options));
  if (!force && !dryRun) await assertCleanTree(root);
  showPlan(project, release, plan);
  if (dryRun) return print("\nNothing was changed (--dry-run).");
  if (!yes) await confirm("Write these files?");
  await applyChanges(root, plan.changes);
  showNextSteps(plan);
}

function toSchema(text: string): InstalledSchema {
  const schema = INSTALLED_SCHEMAS.find((name) => name === text);
  if (schema !== undefined) return schema;
  throw new CommandError(
    "SCHEMA_INVALID",
    `Cannot use the schema "${text}"`,
    `Choose ${INSTALLED_SCHEMAS.join(" or ")}.`,
  );
}

async function reportInstalled(
  root: string,
  manifest: Manifest,
  version: string,
): Promise<void> {
  if (manifest.version !== version) {
    throw new CommandError(
      "VERSION_DIFFERS",
      `This project has SupaSwarm ${manifest.version}, and this command is of ${version}`,
      "Run supaswarm upgrade.",
    );
  }
  print(`SupaSwarm ${version} is installed in schema ${manifest.schema}. Nothing to change.`);
  for (const path of await changedFiles(root, manifest.files)) {
    print(`  edited or missing: ${path}`);
  }
}

/** The first agent, which is asked for on a terminal. A project that has agents gets none. */
async function chooseStarter(
  { root, bare, dryRun, yes }: InitOptions,
): Promise<readonly NewFile[]> {
  if (bare || (await listNames(join(root, "agents"))).length > 0) return [];
  const question = `Add the agent "${STARTER_AGENT}", which runs without a key, to start with?`;
  const isAsked = !dryRun && !yes && isInteractive();
  return !isAsked || await ask(question) ? STARTER_FILES : [];
}

function assertNoClashes(project: Project, release: Release, { schema }: ChosenNames): void {
  const clashes = findClashes(project.migrations, schema, new Set(release.objects.names));
  if (clashes.length === 0) return;
  const list = clashes.map(({ name, path }) => `${name} (${path})`).join(", ");
  throw new CommandError(
    "NAMES_TAKEN",
    `Cannot add SupaSwarm to schema ${schema}: this project already creates ${list}`,
    schema === "public"
      ? "Leave out --schema public: then the platform has schemas of its own."
      : "Rename them, or install with --schema public.",
  );
}

function showPlan(
  project: Project,
  { version }: Release,
  { changes, manifest }: InstallPlan,
): void {
  heading(`SupaSwarm ${version} in schema ${manifest.schema}`);
  print("\nFiles to add:");
  for (const path of summarize(changes.map((change) => change.path))) print(`  ${path}`);
  const config = changes.find(({ path }) => path === CONFIG_PATH)?.text ?? "";
  if (project.config === null) print(`  ${CONFIG_PATH}`);
  else {
    print(`\nChanges of ${CONFIG_PATH}:`);
    printDiff(createTwoFilesPatch("", "", project.config, config, "", "", { context: 1 }));
  }
  const renamed = Object.entries(manifest.functions).filter(([name, chosen]) => name !== chosen);
  for (const [name, chosen] of renamed) {
    print(`\nThe project has a function ${name}, so the platform's is ${chosen}.`);
  }
}

/** The paths of new files, with one line for all built modules. */
function summarize(paths: readonly string[]): string[] {
  const isModule = (path: string) => path.startsWith(`${MODULES_PATH}/`) && path !== MANIFEST_PATH;
  const modules = paths.filter(isModule);
  const others = paths.filter((path) => !isModule(path) && path !== CONFIG_PATH);
  return [...others, `${MODULES_PATH}/ (${modules.length} built modules)`];
}

/** The last lines say what runs now, and where it shows. */
function showNextSteps({ manifest }: InstallPlan): void {
  print(`\nAdded SupaSwarm ${manifest.version}.`);
  if (manifest.schema !== "public") {
    print(`Clients name the schema: createSwarm(supabase, { schema: "${manifest.schema}" })`);
  }
  print("\nTo deploy it:");
  printColumns([
    [supabaseCommand("link"), "chooses the hosted project"],
    [supabaseCommand("db push --remote"), "changes its database"],
    [supabaseCommand("functions deploy --use-api"), "deploys the edge functions"],
  ]);
  const hasStarter = Object.keys(manifest.starter).length > 0;
  print(`\nTo run it on this machine${hasStarter ? "" : ", with an agent of your own"}:`);
  printColumns([
    ...hasStarter ? [] : [["npx supaswarm new agent <name>", "adds an agent"] as const],
    ["npx supaswarm dev", "runs the project, without a key"],
    hasStarter
      ? [
        `npx supaswarm eval ${STARTER_AGENT}`,
        `runs the agent "${STARTER_AGENT}", in a second terminal`,
      ]
      : ["npx supaswarm eval <name>", "runs it, in a second terminal"],
    [CONSOLE_URL, "shows its jobs: create an account there, and start one"],
  ]);
}
