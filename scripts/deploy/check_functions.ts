import { join } from "node:path";
import { checkDeployedSql } from "./check_deployed_sql.ts";
import type { Deployment } from "./management_api.ts";
import { startManagementApi } from "./management_api.ts";
import { moduleGraph, reachedFrom } from "./module_graph.ts";
import { runSupabaseCli } from "./supabase_cli.ts";
import { uploadProblems, type UploadSize, uploadSizeOf } from "./upload_size.ts";

/** What the CLI uploaded. */
export interface CheckedUploads {
  /**
   * Warnings, functions that were not uploaded or are too large, missing files, unneeded files, and
   * SQL that the uploaded code classifies wrongly.
   */
  readonly problems: readonly string[];
  readonly uploads: readonly UploadSize[];
}

/** Deploys all functions with the real CLI to a fake API. */
export async function checkFunctions(
  projectRoot: string,
  functionNames: readonly string[],
): Promise<CheckedUploads> {
  const api = startManagementApi();
  const home = await Deno.makeTempDir({ prefix: "supaswarm-deploy-" });
  try {
    const profile = join(home, "profile.yaml");
    await Deno.writeTextFile(
      profile,
      `name: mock\napi_url: ${api.url}\ndashboard_url: ${api.url}\nproject_host: mock.local\n`,
    );
    const run = await runSupabaseCli(
      // deno-fmt-ignore
      ["functions", "deploy", "--use-api", "--yes", "--profile", profile,
        "--workdir", projectRoot, `--remote=${api.projectRef}`],
      { SUPABASE_ACCESS_TOKEN: `sbp_${"0".repeat(40)}`, SUPABASE_HOME: home },
    );
    const problems = run.succeeded ? [] : [`The CLI failed:\n${run.output.trim()}`];
    problems.push(...warnings(run.output));
    for (const name of functionNames) {
      problems.push(...await checkDeployment(projectRoot, name, api.deployments));
    }
    problems.push(...await checkDeployedSql(api.deployments));
    const uploads = api.deployments.map(uploadSizeOf);
    return { problems: [...problems, ...uploads.flatMap(uploadProblems)], uploads };
  } finally {
    await api.stop();
    await Deno.remove(home, { recursive: true });
  }
}

/** The CLI exits with 0 after "WARN: failed to read file", so its output must be checked. */
function warnings(output: string): string[] {
  return output.split("\n").map((line) => line.trim())
    .filter((line) => /WARN/.test(line) && !/Docker is not running/.test(line));
}

async function checkDeployment(
  projectRoot: string,
  name: string,
  deployments: readonly Deployment[],
): Promise<string[]> {
  const deployment = deployments.find(({ slug }) => slug === name);
  if (deployment === undefined) return [`${name} was not deployed`];
  const entry = `supabase/functions/${name}/index.ts`;
  const graph = await moduleGraph(projectRoot, entry);
  const needed = [...reachedFrom(entry, graph, { includeDynamic: true }), "deno.json"]
    .filter((path) => !/^(npm|node):/.test(path));
  // The CLI also uploads modules that are imported only for types, which is allowed.
  const allowed = new Set([...needed, ...graph.map(({ path }) => path)]);
  const sent = new Set(deployment.files);
  return [
    ...needed.filter((path) => !sent.has(path)).map((path) => `${name} lacks ${path}`),
    ...[...sent].filter((path) => !allowed.has(path)).map((path) => `${name} leaks ${path}`),
  ];
}
