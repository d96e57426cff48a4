import { createSql, type Sql } from "../../../shared/platform/db/sql_client.ts";
import type { Logger } from "../../../shared/platform/log/logger.ts";
import { createGuardedFetch } from "../../../shared/platform/net/guarded_fetch.ts";
import { createEmbedderResolver } from "../../../shared/servers/quoth/embedders/resolve_embedder.ts";
import { createGitHubClient } from "../../../shared/servers/quoth/github/github_client.ts";
import { splitMarkdown } from "../../../shared/servers/quoth/markdown/split_markdown.ts";
import { createSyncWorker } from "../../../shared/servers/quoth/sync/sync_worker.ts";
import { createSqlChunkStore } from "../../../shared/servers/quoth/sync/sql_chunk_store.ts";
import { createSqlReceivingStore } from "../../../shared/servers/quoth/sync/receiving_store.ts";
import {
  receiveWebhook,
  type WebhookAnswer,
} from "../../../shared/servers/quoth/sync/receive_webhook.ts";
import { createSqlSyncStore } from "../../../shared/servers/quoth/sync/sql_sync_store.ts";
import type { SyncPorts } from "../../../shared/servers/quoth/sync/sync_ports.ts";
import { isolateClock } from "../../../shared/platform/isolate/clock.ts";
import { createCpuMeter } from "../../../shared/platform/isolate/cpu_meter.ts";
import { createLifetime } from "../../../shared/platform/isolate/lifetime.ts";
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { addProject } from "../../../scripts/quoth/add_project.ts";
import { openDatabase } from "../../../stack/open_database.ts";
import { TEST_DATABASE, type TestDatabase } from "../../../scripts/test/test_database.ts";
import { FakeGitHub } from "./sync_fake_github.ts";
import { aroundCalls, Killed } from "./sync_killed_ports.ts";

export const REPO = "acme/handbook";
/** Uses only words, so that a test needs no model. */
export const EMBEDDER = "hash768@1";
export const LEASE_SECONDS = 60;
/** CPU time that the meter counts for each document that is split and each request that embeds. */
const MS_PER_CALL = 10;

export interface TestProject {
  readonly id: string;
  readonly slug: string;
  readonly secret: string;
}

/** A row of `quoth_syncs` in the form that tests read. */
export interface SyncRow {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly reason: string;
  readonly commit_sha: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly attempts: number;
  readonly deliveries: number;
  readonly written_count: number;
  readonly unchanged_count: number;
  readonly moved_count: number;
  readonly deleted_count: number;
  readonly refused_count: number;
  readonly embedded_count: number;
  readonly waits_seconds: number | null;
}

/** How a worker of a test differs from the product's. */
export interface DrainParts {
  readonly ports?: (ports: SyncPorts) => SyncPorts;
  readonly cpuMs?: number;
  readonly signal?: AbortSignal;
}

/** A database with the project's migrations, a fake GitHub, and the real sync between them. */
export class SyncFixture implements AsyncDisposable {
  readonly github = new FakeGitHub(REPO);
  readonly sql: Sql;
  readonly logged: string[] = [];
  readonly url: string;
  readonly #stopDatabase: () => Promise<void>;

  private constructor(url: string, stopDatabase: () => Promise<void>) {
    this.url = url;
    this.#stopDatabase = stopDatabase;
    this.sql = createSql(url, { maxConnections: 3, applicationName: "sync-test" });
  }

  static async open(db: TestDatabase = TEST_DATABASE): Promise<SyncFixture> {
    const database = await openDatabase({
      db,
      dataDir: null,
      projectRoot: PROJECT_ROOT,
      log: () => {},
    });
    return new SyncFixture(database.url, () => database.stop());
  }

  /** On a database that the caller stops. */
  static attach(url: string): SyncFixture {
    return new SyncFixture(url, () => Promise.resolve());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sql.end({ timeout: 1 });
    await this.#stopDatabase();
    await this.github[Symbol.asyncDispose]();
  }

  /** Removes all projects and resets GitHub, for the next of several tests on one database. */
  async reset(): Promise<void> {
    await this.sql`delete from public.projects`;
    await this.sql`delete from private.spare_embeddings`;
    await this.sql`delete from vault.secrets where name = 'GITHUB_TOKEN'`;
    this.github.interfere = () => null;
    this.github.token = null;
    this.logged.length = 0;
  }

  async addProject(slug = "handbook", embedder: string = EMBEDDER): Promise<TestProject> {
    const added = await addProject(this.sql, {
      slug,
      repo: REPO,
      branch: null,
      globs: null,
      language: null,
      embedder,
      members: [],
      isSynced: false,
    });
    return { id: added.project_id, slug, secret: added.webhook_secret ?? "" };
  }

  /** Sends a push as GitHub does. */
  async sendPush(
    project: TestProject,
    { commit, branch = "main", deliveryId = crypto.randomUUID() }: {
      readonly commit: string;
      readonly branch?: string;
      readonly deliveryId?: string;
    },
  ): Promise<WebhookAnswer> {
    const body = new TextEncoder().encode(JSON.stringify({
      ref: `refs/heads/${branch}`,
      after: commit,
      repository: { full_name: REPO },
    }));
    return await receiveWebhook({
      event: "push",
      deliveryId,
      signature: await sign(project.secret, body),
      contentType: "application/json",
      readBody: () => Promise.resolve(body),
    }, createSqlReceivingStore(this.sql));
  }

  /**
   * Runs a worker until nothing is left to do, or its time is up.
   *
   * @returns The number of sync runs.
   * @throws Killed if its ports report its death.
   */
  async drain({ ports: change, cpuMs = Infinity, signal }: DrainParts = {}): Promise<number> {
    const countRuns = () => this.logged.filter((line) => line.includes("sync.run_ended")).length;
    const earlierRuns = countRuns();
    let killed: Killed | null = null;
    let usedMs = 0;
    const changed = change?.(this.#ports()) ?? this.#ports();
    const counted: SyncPorts = {
      ...changed,
      split(...document) {
        usedMs += MS_PER_CALL;
        return changed.split(...document);
      },
      embedPart(...part) {
        usedMs += MS_PER_CALL;
        return changed.embedPart(...part);
      },
    };
    const ports = aroundCalls(counted, async (call) => {
      try {
        return await call();
      } catch (error) {
        if (error instanceof Killed) killed = error;
        throw error;
      }
    });
    const meter = createCpuMeter(() => usedMs);
    const life = createLifetime(3_600, { softMs: cpuMs, hardMs: cpuMs + 10_000, meter });
    const isDead = () => killed !== null;
    const worker = createSyncWorker({
      id: crypto.randomUUID(),
      ports,
      lifetime: {
        ...life,
        phaseAt: (nowMs) => isDead() ? "over" : life.phaseAt(nowMs),
      },
      leaseSeconds: LEASE_SECONDS,
      idleSeconds: 0,
      turnCpuMs: Infinity,
    });
    const unload = () => void worker.unload();
    signal?.addEventListener("abort", unload);
    await worker.run();
    signal?.removeEventListener("abort", unload);
    if (killed !== null) throw killed;
    return countRuns() - earlierRuns;
  }

  /** Expires every lease, wait and claim. */
  async passTime(): Promise<void> {
    await this.sql`
      update public.quoth_syncs set lease_expires_at = clock_timestamp() - interval '1 second'
      where status = 'running'`;
    await this.sql`
      update public.quoth_syncs set run_after = clock_timestamp() where run_after is not null`;
    await this.sql`update private.pending_embeddings set due_at = clock_timestamp()`;
  }

  async syncs(project: TestProject): Promise<readonly SyncRow[]> {
    const rows = await this.sql`
      select *, extract(epoch from run_after - clock_timestamp())::float8 as waits_seconds
      from public.quoth_syncs where project_id = ${project.id} order by seq`;
    return [...rows] as unknown as SyncRow[];
  }

  async lastSync(project: TestProject): Promise<SyncRow> {
    const row = (await this.syncs(project)).findLast(({ kind }) => kind !== "embed");
    if (row === undefined) throw new Error("No sync found");
    return row;
  }

  async paths(project: TestProject): Promise<readonly string[]> {
    const rows = await this.sql`
      select file_path from public.documents where project_id = ${project.id}
      order by file_path collate "C"`;
    return rows.map(({ file_path }) => String(file_path));
  }

  /** Error codes by path. */
  async refusals(project: TestProject): Promise<Readonly<Record<string, string>>> {
    const rows = await this.sql`
      select file_path, error ->> 'code' as code from public.quoth_file_errors
      where project_id = ${project.id} order by file_path`;
    return Object.fromEntries(rows.map(({ file_path, code }) => [file_path, code]));
  }

  async commits(project: TestProject): Promise<{ indexed: string | null; head: string | null }> {
    const [row] = await this.sql`
      select indexed_commit as indexed, head_commit as head
      from public.projects where id = ${project.id}`;
    return { indexed: row?.indexed ?? null, head: row?.head ?? null };
  }

  /** Everything that a search can read from a project's index, except ids and times. */
  async indexOf(project: TestProject): Promise<readonly unknown[]> {
    const rows = await this.sql`
      select document.file_path, document.title, document.content, document.checksum,
        document.blob_sha, document.front_matter,
        (
          select jsonb_agg(jsonb_build_array(
            chunk.chunk_index, chunk.chunk_hash, chunk.heading_path, chunk.anchor, chunk.start_line,
            chunk.end_line, chunk.token_count, chunk.embedder, chunk.content_chunk,
            md5(chunk.embedding::text), chunk.fts::text
          ) order by chunk.chunk_index)
          from public.document_embeddings as chunk where chunk.document_id = document.id
        ) as chunks
      from public.documents as document
      where document.project_id = ${project.id}
      order by document.file_path collate "C"`;
    return rows.map((row) => ({ ...row }));
  }

  #ports(): SyncPorts {
    const log: Logger = (level, event, fields) => {
      this.logged.push(JSON.stringify({ level, event, ...fields }));
    };
    return {
      ...openSyncPorts(this.sql, this.github.url, log),
      // Nothing arrives while a test drains, so it hardly waits.
      clock: {
        ...isolateClock,
        sleep: (durationMs, signal) =>
          isolateClock.sleep(durationMs <= 1_000 ? 1 : durationMs, signal),
      },
    };
  }
}

/** The product's own ports, except the address of GitHub. */
export function openSyncPorts(sql: Sql, githubUrl: string, log: Logger): SyncPorts {
  const fetch = createGuardedFetch({ allowLoopback: true });
  const options = { leaseSeconds: LEASE_SECONDS, clock: isolateClock };
  const resolveEmbedder = createEmbedderResolver(sql, { transport: { fetch, nowMs: Date.now } });
  return {
    store: createSqlSyncStore(sql, options),
    chunks: createSqlChunkStore(sql, options),
    openGitHub: (token) => createGitHubClient({ apiUrl: githubUrl, token, fetch, nowMs: Date.now }),
    split: splitMarkdown,
    embedPart: async (embedder, texts, signal) =>
      await (await resolveEmbedder(embedder)).metered.embedPart(texts, signal),
    clock: isolateClock,
    log,
  };
}

/** The header `X-Hub-Signature-256` for a body. */
export async function sign(secret: string, body: Uint8Array<ArrayBuffer>): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(secret),
    algorithm,
    false,
    ["sign"],
  );
  const digest = new Uint8Array(await crypto.subtle.sign("HMAC", key, body));
  return `sha256=${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Files by path from texts. */
export function filesOf(
  texts: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>,
): Map<string, Uint8Array<ArrayBuffer>> {
  return new Map(
    Object.entries(texts).map(([path, text]) => [
      path,
      typeof text === "string" ? new TextEncoder().encode(text) : text,
    ]),
  );
}
