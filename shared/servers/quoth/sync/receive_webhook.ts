import type { Bytes } from "../../../platform/values/bytes.ts";
import { describeIssues } from "../../../platform/values/describe_issues.ts";
import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import type { ReceivingStore, WebhookSecret } from "./receiving_store.ts";
import { z } from "../../../vendor/zod.js";
import { bodyTooLarge } from "../../../platform/http/parse_body.ts";
import { WEBHOOK_LIMITS } from "../../../platform/json/json_limits.ts";
import { parseJson } from "../../../platform/json/parse_json.ts";
import { Buffer } from "node:buffer";

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

/** The relevant part of a `push` payload; its file lists are truncated by GitHub and ignored. */
const pushEvent = z.object({
  ref: z.string(),
  after: z.string().regex(/^[0-9a-f]{40}$/),
  deleted: z.boolean().default(false),
});

/**
 * The JSON of a webhook's body in either of GitHub's two content types. Only for a body whose
 * signature has been checked.
 *
 * @throws BODY_INVALID
 */
function parsePayload(body: Uint8Array, contentType: string | null): unknown {
  const isForm = contentType?.startsWith("application/x-www-form-urlencoded") ?? false;
  const parsed = parseJson(isForm ? payloadOfForm(body) : body, WEBHOOK_LIMITS);
  if (parsed.kind === "json") return parsed.value;
  if (parsed.kind === "too_large") throw bodyTooLarge("the webhook", parsed.excess);
  throw new SwarmError("BODY_INVALID", "Cannot read the webhook: its body is not JSON", {
    cause: parsed.cause,
    hint: "Set the webhook's content type to application/json.",
  });
}

function payloadOfForm(body: Uint8Array): string {
  return new URLSearchParams(new TextDecoder().decode(body)).get("payload") ?? "";
}

/** The reason why a push is ignored, or null: only the tip of the project's branch is relevant. */
function ignoredReason(
  { ref, deleted }: z.infer<typeof pushEvent>,
  defaultBranch: string,
): "tag" | "branch" | "deleted" | null {
  if (ref.startsWith("refs/tags/")) return "tag";
  if (ref !== `refs/heads/${defaultBranch}`) return "branch";
  return deleted ? "deleted" : null;
}

/** The member that names a payload's repository. */
const MARKER = "full_name";
/** Maximum number of examined places and names: a genuine payload has few. */
const MAX_PLACES = 32;
const MAX_NAMES = 4;
/** Longer than any name with its surroundings. */
const PLACE_BYTES = 260;

const JSON_NAME = /^"\s{0,8}:\s{0,8}"([\w.-]{1,100})\\?\/([\w.-]{1,100})"/;
/** In a form the JSON is percent-encoded. */
const FORM_NAME = /^%22(?:%20|\+){0,8}%3A(?:%20|\+){0,8}%22([\w.-]{1,100})%2F([\w.-]{1,100})%22/i;

/**
 * The repositories named in an unverified body, as `owner/name`, at most four: only their secrets
 * are tried. The bytes are searched for one word without parsing, which takes linear time and no
 * memory.
 */
function namedRepositories(body: Uint8Array): string[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const names = new Set<string>();
  let place = bytes.indexOf(MARKER);
  for (let count = 0; count < MAX_PLACES && place !== -1 && names.size < MAX_NAMES; count++) {
    const start = place + MARKER.length;
    const near = bytes.toString("latin1", start, start + PLACE_BYTES);
    const [, owner, name] = JSON_NAME.exec(near) ?? FORM_NAME.exec(near) ?? [];
    if (owner !== undefined && name !== undefined) names.add(`${owner}/${name}`.toLowerCase());
    place = bytes.indexOf(MARKER, start);
  }
  return [...names];
}

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

/**
 * The bytes of an `X-Hub-Signature-256` header, or null when it is missing or malformed.
 */
function parseSignature(header: string | null): Bytes | null {
  const hex = SIGNATURE.exec(header ?? "")?.[1];
  if (hex === undefined) return null;
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/**
 * Whether `signature` is the HMAC-SHA-256 of a body's bytes. The comparison is WebCrypto's, which
 * runs in constant time.
 */
async function isSignedWith(
  secret: string,
  body: Bytes,
  signature: Bytes,
): Promise<boolean> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const bytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
  return await crypto.subtle.verify("HMAC", key, signature, body);
}
