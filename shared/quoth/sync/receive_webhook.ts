import type { Bytes } from "../../bytes.ts";
import { describeIssues } from "../../describe_issues.ts";
import { SwarmError } from "../../errors/swarm_error.ts";
import type { ReceivingStore, WebhookSecret } from "./receiving_store.ts";
import { ignoredReason, parsePayload, pushEvent } from "./push_event.ts";
import { namedRepositories } from "./signed_repositories.ts";
import { isSignedWith, parseSignature } from "./webhook_signature.ts";

/** A webhook's request as it came. */
export interface Webhook {
  /** Slug or id of the project that the URL names; null or absent for the URL without one. */
  readonly project?: string | null;
  readonly event: string;
  readonly deliveryId: string | null;
  readonly signature: string | null;
  readonly contentType: string | null;
  /** Reads the body; called only when there is a signature to check it with. */
  readonly readBody: () => Promise<Bytes>;
}

/** What a webhook led to. */
export type WebhookAnswer =
  | { readonly kind: "pong" }
  | { readonly kind: "ignored"; readonly reason: string }
  | { readonly kind: "queued"; readonly syncId: string; readonly queuedCount: number };

const DELIVERY_ID = /^[\w-]{8,64}$/;
/** Each costs a hash over the whole body; a repository with more projects names them in the URL. */
const MAX_TRIED_SECRETS = 8;
/** Stands in where there is no secret, so that an unknown repository takes the same time. */
const NOBODYS_SECRET = "no repository has this secret";

/**
 * Takes in a GitHub webhook. It only triggers a sync: which commit is the head, and which files it
 * has, is asked for when the sync runs.
 *
 * Nothing is parsed before the signature over the raw bytes is right. Whose secret to check it with
 * the URL says; without a project there, the body's bytes are searched for names of repositories.
 *
 * @throws UNAUTHORIZED when the signature is missing or wrong, and for an unknown repository.
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

/** The project whose secret has signed the body; nothing of the body has been parsed yet. */
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
    "Cannot accept the webhook: its signature is missing or fits no project of this repository",
    { hint: "Give the webhook the URL and the secret that deno task quoth:add printed." },
  );
}

function invalid(problem: string): SwarmError {
  return new SwarmError("BODY_INVALID", `Cannot read the push: ${problem}`, {
    hint: "Send GitHub's push event as it is.",
  });
}
