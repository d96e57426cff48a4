import { join } from "node:path";
import { type DemoUser, type Project } from "../../scripts/demo/user_client.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { z } from "../../shared/vendor/zod.js";
import { loadSupabaseJs } from "../deps.ts";
import { CACHE_DIR, fillDataFolder } from "../e2e/migrated_folder.ts";
import { type ReadyLine, runStart } from "../stack/start_process.ts";
import { serveChat } from "./chat_server.ts";
import { type FreshClone, makeFreshClone } from "./fresh_clone.ts";

/** Variables that this machine may have set for its own user; empty counts as unset. */
const MACHINE_VARIABLES = [
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "GOOGLE_API_KEY",
  "OPENROUTER_API_KEY",
  "GITHUB_TOKEN",
  "OLLAMA_HOST",
  "SUPABASE_DB_URL",
  "SUPASWARM_DATA_DIR",
  "SUPASWARM_FILES_DIR",
];

/** The signed-in user of the pages, under the name in the pages. */
export const USER = { email: "ada@example.com", password: "correct horse battery" } as const;

/** `deno task start` in a fresh clone, with the user of the pages. */
export interface DocsStack extends AsyncDisposable {
  readonly clone: FreshClone;
  readonly ready: ReadyLine;
  /** As role `postgres`. */
  readonly sql: Sql;
  readonly userId: string;
  /** A finished task of the user. */
  readonly taskId: string;
}

/** Starts the stack that all pages share. */
export async function startDocsStack(): Promise<DocsStack> {
  const stack = new AsyncDisposableStack();
  try {
    const clone = stack.use(await makeFreshClone());
    await fillDataFolder(join(clone.root, ".supaswarm"));
    const chat = stack.use(serveChat());
    const start = stack.use(runStart(["--port", "0", "--json"], {
      root: clone.root,
      env: {
        // The snapshots of this checkout; a new user's first start creates them.
        SUPASWARM_CACHE_DIR: CACHE_DIR,
        ...Object.fromEntries(MACHINE_VARIABLES.map((name) => [name, ""])),
        OPENAI_BASE_URL: chat.baseUrl,
      },
    }));
    const ready = await start.ready;
    const sql = createSql(ready.db_url, { maxConnections: 1, applicationName: "docs" });
    stack.defer(() => sql.end({ timeout: 1 }));
    const user = await signUpAda({
      apiUrl: ready.api_url,
      publishableKey: ready.publishable_key,
    });
    stack.defer(() => void user.client.realtime.disconnect());
    const { data } = await user.client.auth.getUser();
    const taskId = await finishTask(user, sql);
    return {
      clone,
      ready,
      sql,
      userId: data.user?.id ?? "",
      taskId,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function signUpAda({ apiUrl, publishableKey }: Project): Promise<DemoUser> {
  const { createClient } = await loadSupabaseJs();
  const client = createClient(apiUrl, publishableKey, {
    auth: { persistSession: false, autoRefreshToken: false },
  });
  const { data, error } = await client.auth.signUp(USER);
  if (error !== null) throw error;
  return { client, accessToken: data.session?.access_token ?? "" };
}

async function finishTask({ client }: DemoUser, sql: Sql): Promise<string> {
  const { data, error } = await client.functions.invoke("supaswarm-create-task", {
    body: { agent: "writer", input: { topic: "docs that run" } },
  });
  if (error !== null) throw error;
  const { task_id: taskId } = z.object({ task_id: z.string() }).parse(data);
  const until = (status: string) =>
    waitFor(
      async () =>
        (await sql`select from tasks where id = ${taskId}::uuid and status::text = ${status}`)
          .length > 0,
      { what: `the writer's task to be ${status}` },
    );
  await until("needs_human_review");
  const answer = await client.rpc("respond_to_review", { p_task_id: taskId, p_approved: true });
  if (answer.error !== null) throw answer.error;
  await until("completed");
  return taskId;
}

/** The folder of small programs that is first on the path of the pages' shell blocks. */
export async function makeShims(folder: string): Promise<string> {
  const shims = join(folder, "shims");
  await Deno.mkdir(shims, { recursive: true });
  // `npx -y deno@x` is the Deno that runs these tests; other packages are refused.
  await writeProgram(
    join(shims, "npx"),
    `#!/bin/sh\ncase "$2" in deno@*) shift 2; exec '${Deno.execPath()}' "$@";; esac\n` +
      'echo "this block runs npx $*: say in a comment why the test does not" >&2; exit 1\n',
  );
  return shims;
}

async function writeProgram(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(path, text);
  await Deno.chmod(path, 0o755);
}
