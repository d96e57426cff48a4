/**
 * `deno task deploy:check`: tests a deployment to a hosted project with the real CLI. It deploys
 * the functions to a fake Management API, applies the migrations to native Postgres with the role
 * of a hosted project, and measures each function's upload, bundle and start.
 */
import { runCommand } from "./cli/run_command.ts";
import { bundleProblems, describeCosts, measureFunctions } from "./deploy/check_bundles.ts";
import { checkDatabase } from "./deploy/check_database.ts";
import { checkEdgeRuntime } from "./deploy/check_edge_runtime.ts";
import { type CheckedUploads, checkFunctions } from "./deploy/check_functions.ts";
import { startNativeCluster } from "../stack/native/native_cluster.ts";
import { findNativePrefix } from "../stack/native/native_prefix.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { findFunctions } from "../stack/functions/find_functions.ts";
import { green, red, writeLine, writeProgress } from "./terminal.ts";

await runCommand(
  {
    name: "deno task deploy:check",
    summary: "Checks with the real Supabase CLI that the project deploys.",
    options: {
      json: { type: "boolean", help: "Print one line {ok, problems, functions, uploads}." },
    },
  },
  async ({ values }) => {
    const names = [...(await findFunctions(PROJECT_ROOT)).keys()];
    const [deployment, runtime] = await Promise.all([
      checkWithCli(names),
      part("edge runtime", () => checkEdgeRuntime(PROJECT_ROOT, names)),
    ]);
    const { uploads } = deployment;
    const problems = [...deployment.problems, ...runtime];
    writeProgress("checking bundles …");
    const functions = await measureFunctions(PROJECT_ROOT, names);
    problems.push(...bundleProblems(functions));

    if (values.json) {
      writeLine(JSON.stringify({ ok: problems.length === 0, problems, functions, uploads }));
    } else {
      for (const line of describeCosts(functions, uploads)) writeLine(line);
      for (const problem of problems) writeLine(`${red("problem")}: ${problem}`);
    }
    if (problems.length > 0) {
      throw new Error(`${problems.length} problems would break a deployment`);
    }
    if (!values.json) {
      writeLine(`${green("ok")}: ${names.length} functions and the migrations deploy`);
    }
  },
);

/** One part after the other, because at the same time both would install the CLI. */
async function checkWithCli(functionNames: readonly string[]): Promise<CheckedUploads> {
  const { problems, uploads } = await part(
    "functions deploy",
    () => checkFunctions(PROJECT_ROOT, functionNames),
  );
  return { problems: [...problems, ...await part("database", checkOnNativePostgres)], uploads };
}

async function part<Result>(name: string, check: () => Promise<Result>): Promise<Result> {
  writeProgress(`checking ${name} …`);
  return await check();
}

async function checkOnNativePostgres(): Promise<string[]> {
  const dataDir = await Deno.makeTempDir({ prefix: "supaswarm-deploy-" });
  // The server may run as another user, who must be able to reach the folder.
  await Deno.chmod(dataDir, 0o755);
  const cluster = await startNativeCluster({ prefix: await findNativePrefix(), dataDir, port: 0 });
  try {
    return await checkDatabase(PROJECT_ROOT, cluster.url);
  } finally {
    await cluster.stop();
    await Deno.remove(dataDir, { recursive: true });
  }
}
