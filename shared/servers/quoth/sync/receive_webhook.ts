import type { Bytes } from "../../../platform/values/bytes.ts";
import { describeIssues } from "../../../platform/values/describe_issues.ts";
import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import type { ReceivingStore, WebhookSecret } from "./receiving_store.ts";
import { ignoredReason, parsePayload, pushEvent } from "./push_event.ts";
import { namedRepositories } from "./signed_repositories.ts";
import { isSignedWith, parseSignature } from "./webhook_signature.ts";

/** A webhook's request. */
export interface Webhook {
  /** Slug or id of the project in the URL; null or absent if the URL has none. */
  readonly project?: string | null;
  readonly event: string;
  readonly deliveryId: string | null;
  readonly signature: string | null;
  readonly contentType: string | null;
  /** Reads the body; called only if there is a signature to check. */
  readonly readBody: () => Promise<Bytes>;
}

/** The result of a webhook. */
export type WebhookAnswer =
  | { readonly kind: "pong" }
  | { readonly kind: "ignored"; readonly reason: string }
  | { readonly kind: "queued"; readonly syncId: string; readonly queuedCount: number };

const DELIVERY_ID = /^[\w-]{8,64}$/;
/**
 * Each costs a hash of the whole body; a repository with more projects must name them in the URL.
 */
const MAX_TRIED_SECRETS = 8;
/** Replaces a missing secret, so that an unknown repository takes the same time. */
const NOBODYS_SECRET = "no repository has this secret";

/**
 * Receives a GitHub webhook. It only triggers a sync, which reads the head commit and its files
 * when it runs.
 *
 * Nothing is parsed before the signature of the raw bytes is verified. The URL names the project
 * whose secret is used; without one, the body's bytes are searched for names of repositories.
 *
 * @throws UNAUTHORIZED if the signature is missing or wrong, and for an unknown repository.
 * @throws BODY_INVALID, DATABASE_UNAVAILABLE
 */
export async function receiveWebhook(
  webhook: Webhook,
  store: ReceivingStore,
): Promise<WebhookAnswer> {
  const signature = parseSignature(webhook.signature);
  if (signature === null) throw refused();
  const body = await webhook.readBody();
  const project = await findSigner(webhook.project ?? null, body, signature, store);
  const payload = parsePayload(body, webhook.contentType);
  if (webhook.event === "ping") return { kind: "pong" };
  if (webhook.event !== "push") return { kind: "ignored", reason: `event '${webhook.event}'` };

  const push = pushEvent.safeParse(payload);
  if (!push.success) throw invalid(describeIssues(push.error).join("; "));
  if (webhook.deliveryId === null || !DELIVERY_ID.test(webhook.deliveryId)) {
    throw invalid("X-GitHub-Delivery is missing or malformed");
  }
  const reason = ignoredReason(push.data, project.defaultBranch);
  if (reason !== null) return { kind: "ignored", reason };
  return {
    kind: "queued",
    ...await store.receivePush(project.projectId, webhook.deliveryId, push.data.after),
  };
}

/** The project whose secret signed the body, which has not been parsed yet. */
async function findSigner(
  project: string | null,
  body: Bytes,
  signature: Bytes,
  store: ReceivingStore,
): Promise<WebhookSecret> {
  const candidates = project === null
    ? await secretsOfNamed(namedRepositories(body), store)
    : await store.projectSecret(project);
  if (candidates.length === 0) await isSignedWith(NOBODYS_SECRET, body, signature);
  for (const candidate of candidates.slice(0, MAX_TRIED_SECRETS)) {
    if (await isSignedWith(candidate.secret, body, signature)) return candidate;
  }
  throw refused();
}

async function secretsOfNamed(
  repositories: readonly string[],
  store: ReceivingStore,
): Promise<readonly WebhookSecret[]> {
  const secrets = await Promise.all(repositories.map((name) => store.webhookSecrets(name)));
  return secrets.flat();
}

function refused(): SwarmError {
  return new SwarmError(
    "UNAUTHORIZED",
    "Cannot accept the webhook: its signature is missing or matches no project of this repository",
    { hint: "Configure the webhook with the URL and the secret that deno task quoth:add printed." },
  );
}

function invalid(problem: string): SwarmError {
  return new SwarmError("BODY_INVALID", `Cannot read the push: ${problem}`, {
    hint: "Send GitHub's push event unchanged.",
  });
}
