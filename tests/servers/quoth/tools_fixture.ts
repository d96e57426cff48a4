import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import {
  type AddedProject,
  addProject,
  type ProjectToAdd,
} from "../../../scripts/quoth/add_project.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { asJsonObject, type JsonObject } from "../../../shared/platform/values/json.ts";
import type { McpPlatform } from "../../gateway/mcp/mcp_platform.ts";
import { errorOf, type rawClient } from "../../gateway/mcp/raw_message.ts";

/** Uses only words, so that a test needs no model. */
export const EMBEDDER = "hash768@1";

/** The answer of `quoth_search_index`. */
export const found = z.object({
  results: z.array(z.object({
    file: z.string(),
    topic: z.string(),
    snippet: z.string(),
    relevance: z.string().regex(/^\d{1,3}%$/),
    heading_path: z.array(z.string()),
    start_line: z.number(),
    end_line: z.number(),
    permalink: z.string().nullable(),
    why: z.looseObject({ matched_terms: z.array(z.string()) }),
  })),
  freshness: z.looseObject({ document_count: z.number(), pending_chunks: z.number() }),
  mode: z.enum(["hybrid", "lexical_only"]),
  embedder: z.string().nullable(),
  notices: z.array(z.string()),
});

export type Send = ReturnType<typeof rawClient>;

async function call(send: Send, name: string, args: JsonObject): Promise<JsonObject> {
  const params = { name, arguments: args };
  const { last } = await send({ path: "/quoth", method: "tools/call", params });
  return asJsonObject(last.result);
}

/** The structured answer of a tool. */
export async function use(send: Send, name: string, args: JsonObject): Promise<JsonObject> {
  const result = await call(send, name, args);
  assert.notEqual(result.isError, true, JSON.stringify(result));
  return asJsonObject(result.structuredContent);
}

/** The tool's own error; after three consecutive ones the gateway's error contains it. */
export async function attempt(send: Send, name: string, args: JsonObject): Promise<Refusal> {
  const result = await call(send, name, args);
  assert.equal(result.isError, true, JSON.stringify(result));
  const error = errorOf(result);
  const own = error.code === "EXCEEDED_RETRIES" ? asJsonObject(error.details).error_code : null;
  return { code: String(own ?? error.code), text: JSON.stringify(result) };
}

export interface Refusal {
  readonly code: string;
  readonly text: string;
}

/** Adds the project of the repository `acme/<slug>`. */
export async function add(
  { sql }: McpPlatform,
  slug: string,
  parts: Partial<ProjectToAdd> = {},
): Promise<AddedProject> {
  return await addProject(sql, {
    slug,
    repo: `acme/${slug}`,
    branch: null,
    globs: null,
    language: null,
    embedder: EMBEDDER,
    members: [],
    isSynced: false,
    ...parts,
  });
}

/** Waits until that many documents exist, with vectors for all their chunks. */
export async function untilEmbedded({ sql }: McpPlatform, documentCount: number): Promise<void> {
  await waitFor(async () => {
    const [row] = await sql`
      select (select count(*)::int from public.documents) as documents,
        (select count(*)::int from public.document_embeddings where embedding is null) as pending`;
    return row?.documents === documentCount && row.pending === 0;
  }, { what: "the index", intervalMs: 200 });
}

export type SentFile =
  | { readonly path: string; readonly content: string }
  | { readonly path: string; readonly deleted: true };

/** The direct form of `quoth-sync`. */
export async function send(
  { project, stack }: McpPlatform,
  slug: string,
  files: readonly SentFile[],
): Promise<void> {
  const response = await fetch(`${project.apiUrl}/functions/v1/quoth-sync`, {
    method: "POST",
    headers: { apikey: stack.secretKey, "content-type": "application/json" },
    body: JSON.stringify({ project: slug, files }),
  });
  const text = await response.text();
  assert.equal(response.status, 202, text);
}

export function filesOf(texts: Readonly<Record<string, string>>): SentFile[] {
  return Object.entries(texts).map(([path, content]) => ({ path, content }));
}

/** The text inside its fence. */
export function unfenced(snippet: string): string {
  return snippet.split("\n").slice(1, -1).join("\n");
}
