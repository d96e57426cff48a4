import { z } from "../../../vendor/zod.js";
import type { Sql } from "../../../platform/db/sql_client.ts";
import { toSwarmError } from "../../../platform/db/to_swarm_error.ts";

/** A candidate project of a webhook. */
export interface WebhookSecret {
  readonly projectId: string;
  readonly defaultBranch: string;
  readonly secret: string;
}

/** The work that a request has queued. */
export interface Queued {
  readonly syncId: string;
  /** Number of work items: files, or one comparison; 0 if it was already queued. */
  readonly queuedCount: number;
}

/** A file that was sent directly; without content it is deleted. */
export interface SentFile {
  readonly path: string;
  readonly blobSha: string | null;
  readonly content: string | null;
}

/** The database operations for receiving work. */
export interface ReceivingStore {
  /** The project with that slug or id, if it has a webhook secret; none or one. */
  projectSecret(project: string): Promise<readonly WebhookSecret[]>;
  /** Projects of `owner/name` that have a webhook secret. */
  webhookSecrets(repository: string): Promise<readonly WebhookSecret[]>;
  receivePush(projectId: string, deliveryId: string, commitSha: string): Promise<Queued>;
  /** @throws PROJECT_NOT_FOUND if no project has that slug or id. */
  receiveFiles(project: string, files: readonly SentFile[]): Promise<Queued>;
  /** @throws PROJECT_NOT_FOUND if no project has that slug or id. */
  requestSync(project: string): Promise<Queued>;
}

const secretRow = z.object({
  project_id: z.string(),
  default_branch: z.string(),
  secret: z.string().nullable(),
});
const queuedRows = z.tuple([z.object({ sync_id: z.string(), queued: z.int() })]);

function toSecrets(rows: unknown): WebhookSecret[] {
  return secretRow.array().parse(rows).flatMap(({ project_id, default_branch, secret }) =>
    secret === null ? [] : [{ projectId: project_id, defaultBranch: default_branch, secret }]
  );
}

/** The receiving store over the functions of schema `private`. */
export function createSqlReceivingStore(sql: Sql): ReceivingStore {
  return {
    async projectSecret(project) {
      return toSecrets(
        await run(
          "find the project of the webhook",
          sql`
        select project_id, default_branch, secret from private.webhook_secret(${project})`,
        ),
      );
    },

    async webhookSecrets(repository) {
      return toSecrets(
        await run(
          "find the project of the webhook",
          sql`
        select project_id, default_branch, secret from private.webhook_secrets(${repository})`,
        ),
      );
    },

    async receivePush(projectId, deliveryId, commitSha) {
      return toQueued(
        await run(
          "queue the push",
          sql`
        select sync_id, queued
        from private.receive_push(
          p_project_id => ${projectId}::uuid,
          p_delivery_id => ${deliveryId},
          p_commit => ${commitSha}
        )`,
        ),
      );
    },

    async receiveFiles(project, files) {
      const rows = files.map(({ path, blobSha, content }) => ({
        path,
        blob_sha: blobSha,
        content,
      }));
      return toQueued(
        await run(
          "queue the files",
          sql`
        select sync_id, queued from private.receive_files(${project}, ${sql.json(rows)})`,
        ),
      );
    },

    async requestSync(project) {
      return toQueued(
        await run(
          "queue the sync",
          sql`
        select sync_id, queued from private.request_sync(${project})`,
        ),
      );
    },
  };
}

async function run(action: string, query: PromiseLike<readonly unknown[]>): Promise<unknown[]> {
  try {
    return [...await query];
  } catch (error) {
    throw toSwarmError(error, action);
  }
}

function toQueued(rows: unknown[]): Queued {
  const [{ sync_id, queued }] = queuedRows.parse(rows);
  return { syncId: sync_id, queuedCount: queued };
}
