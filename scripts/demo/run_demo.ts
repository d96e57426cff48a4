import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import type { BootProgress } from "../../stack/boot.ts";
import { untilAborted } from "../../stack/until_aborted.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { type LocalPlatform, startPlatform } from "../platform/start_platform.ts";
import { type Environment, readEnvironment } from "../../stack/stack_environment.ts";
import { chooseModel, type DemoModel, modelKeys } from "./choose_model.ts";
import * as evidence from "./evidence.ts";
import { type FileServer, refusesWithoutKey, startFileServer } from "./file_server.ts";
import { findExposures } from "./find_exposures.ts";
import { giveModelKey, registerFileServer, useProvider } from "./operator.ts";
import { REVIEW_WORDS, runCancelledJob, runReportJob } from "./run_jobs.ts";
import type { TraceView } from "./trace_view.ts";
import { untilListed } from "./until_listed.ts";
import { type DemoUser, type FollowedJob, isRefused, signUp } from "./user_client.ts";

interface DemoOptions {
  /** `pglite`, `native` or a URL. */
  readonly db: string;
  /** Absolute path of the folder of Markdown files. */
  readonly folder: string;
  /** Prints the trace; null prints nothing. */
  readonly view: TraceView | null;
  /**
   * Chooses the model and sets up the stack.
   *
   * @default the variables of the process and of the project's `.env`
   */
  readonly environment?: Environment;
  /** Ends the demo when it aborts. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: BootProgress) => void;
}

/** The demo's result. With `--json`, its last line. */
export interface DemoResult extends evidence.DemoFigures {
  readonly ok: boolean;
  readonly criteria: evidence.DemoCriteria;
  readonly total_ms: number;
  readonly boot_ms: number;
  /** The report as the user downloaded it from Storage. */
  readonly report: string;
  readonly model: string;
}

/** The results of both jobs, for the evidence. */
interface DemoRun {
  readonly stack: LocalPlatform;
  readonly sql: Sql;
  readonly files: FileServer;
  readonly user: DemoUser;
  readonly stranger: DemoUser;
  readonly reportJob: FollowedJob;
  readonly cancelledJob: FollowedJob;
  readonly secrets: readonly string[];
  readonly logLines: readonly string[];
  readonly view: TraceView | null;
}

/**
 * Runs both jobs on an ephemeral stack and evaluates the evidence.
 *
 * @throws Error when a part does not start or a job does not finish; the reason of the signal.
 */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { signal = new AbortController().signal } = options;
  await using cleanUp = new AsyncDisposableStack();
  return await untilAborted(signal, runAll({ ...options, signal }, cleanUp));
}

async function runAll(
  options: DemoOptions & { readonly signal: AbortSignal },
  cleanUp: AsyncDisposableStack,
): Promise<DemoResult> {
  const { db, folder, view, signal, onProgress } = options;
  const startedAtMs = performance.now();
  const environment = options.environment ?? await readEnvironment(PROJECT_ROOT);
  const logLines: string[] = [];

  view?.say("Booting Postgres, REST, Auth, Storage, Realtime and the edge functions …");
  const starting = startPlatform({
    db,
    port: 0,
    dataDir: null,
    projectRoot: PROJECT_ROOT,
    watch: false,
    env: environment,
    onLog: (line) => logLines.push(JSON.stringify(line)),
    signal,
    ...definedOnly({ onProgress }),
  });
  const serving = startFileServer(folder, signal);
  // If one part starts and the other fails, the started one is stopped.
  cleanUp.defer(() => starting.then((started) => started.stop(), () => {}));
  cleanUp.defer(() => serving.then((started) => started.stop(), () => {}));
  const [stack, files] = await Promise.all([starting, serving]);
  const sql = createSql(stack.dbUrl, { maxConnections: 1, applicationName: "demo" });
  cleanUp.defer(() => sql.end({ timeout: 1 }));
  const model = chooseModel(environment);
  const madeKeys = await setUp(sql, { files, model });
  await untilListed(stack, "files");
  view?.say(`Up after ${stack.bootMs} ms at ${stack.apiUrl}. The model is ${model.provider}.`);

  const project = { apiUrl: stack.apiUrl, publishableKey: stack.publishableKey };
  const [user, stranger] = await Promise.all([signUp(project, "ada"), signUp(project, "eve")]);
  cleanUp.defer(() => void user.client.realtime.disconnect());
  cleanUp.defer(() => void stranger.client.realtime.disconnect());
  const context = { user, folder, models: stack.models, view };
  view?.begin(`A report on ${folder}`);
  const reportJob = await runReportJob(context);
  view?.begin("The same job again, cancelled in the middle");
  const cancelledJob = await runCancelledJob(context);

  const secrets = [
    files.apiKey,
    stack.secretKey,
    user.accessToken,
    ...madeKeys,
    ...modelKeys(model, environment),
  ];
  const run = {
    stack,
    sql,
    files,
    user,
    stranger,
    reportJob,
    cancelledJob,
    secrets,
    logLines,
    view,
  };
  const criteria = await judge(run);
  const report = await downloadReport(run);
  view?.begin("The report, from Storage");
  for (const line of report.split("\n").slice(0, 12)) view?.say(`  ${line}`);
  view?.say("");
  return {
    ok: Object.values(criteria).every((isMet) => isMet) && report !== "",
    criteria,
    ...await evidence.readFigures(sql),
    total_ms: Math.round(performance.now() - startedAtMs),
    boot_ms: stack.bootMs,
    report,
    model: model.provider,
  };
}

/** Sets up the project like an operator before the first job. Returns the generated keys. */
async function setUp(
  sql: Sql,
  { files, model }: { readonly files: FileServer; readonly model: DemoModel },
): Promise<string[]> {
  await registerFileServer(sql, files);
  if (model.provider === "demo") return [await giveModelKey(sql)];
  await useProvider(sql, model.provider);
  return [];
}

async function judge(run: DemoRun): Promise<evidence.DemoCriteria> {
  const { sql, files, user, reportJob, cancelledJob } = run;
  const jobId = reportJob.taskId;
  const { data } = await user.client.auth.getUser();
  return {
    handoff: await evidence.provesHandoff(sql, jobId),
    authenticated_mcp: await evidence.provesAuthenticatedMcp(sql, {
      jobId,
      refusesWithoutKey: await refusesWithoutKey(files.url),
    }),
    skill_loading: await evidence.provesSkillLoading(sql, jobId),
    human_review: await evidence.provesHumanReview(sql, {
      jobId,
      userId: data.user?.id ?? "",
      words: REVIEW_WORDS,
    }),
    cancellation: await evidence.provesCancellation(sql, cancelledJob.taskId),
    realtime_trace: await evidence.provesRealtimeTrace(sql, {
      jobId,
      received: reportJob.received,
      isStrangerRefused: await isRefused(run.stranger, jobId),
    }),
    zero_credential_exposure: await hasNoExposure(run),
  };
}

async function hasNoExposure(run: DemoRun): Promise<boolean> {
  const { sql, secrets, logLines, reportJob, cancelledJob, stack, view } = run;
  const found = await findExposures(sql, secrets, [
    { where: "logs", text: logLines.join("\n") },
    { where: "broadcasts", text: JSON.stringify([reportJob.received, cancelledJob.received]) },
    {
      where: "model requests",
      text: stack.models.journal.entries().map(({ body }) => body).join("\n"),
    },
  ]);
  for (const place of found) view?.say(`A secret was found in: ${place}`);
  return found.length === 0;
}

/** Downloads the report as the user, through the Storage API. @throws Error when there is none. */
async function downloadReport({ user, reportJob }: DemoRun): Promise<string> {
  const { data: task, error } = await user.client.from("tasks").select("storage_paths")
    .eq("id", reportJob.taskId).single();
  if (error !== null) throw new Error(`Cannot read the job: ${error.message}`);
  const path = (task.storage_paths as string[]).find((name) => name.endsWith(".md"));
  if (path === undefined) throw new Error("Cannot download the report: the job stored none");
  const download = await user.client.storage.from("supaswarm-data").download(path);
  if (download.error !== null) throw new Error(`Downloading ${path}: ${download.error.message}`);
  return await download.data.text();
}
