import { z } from "../../../vendor/zod.js";
import { blobShaOf } from "../github/blob_sha.ts";
import { isDocumentPath } from "./document_path.ts";
import type { Queued, ReceivingStore } from "./receiving_store.ts";

/** The maximum that GitHub reports for a commit. */
const MAX_FILES = 3_000;

const path = z.string().refine(isDocumentPath, {
  error: "is not a plain relative path such as docs/guide.md",
});

/** The body of a direct request. Without `files`, the project is compared with its branch. */
export const filesRequest = z.strictObject({
  /** Slug or id. */
  project: z.string().min(1).max(100),
  files: z.array(z.union([
    z.strictObject({ path, content: z.string() }),
    z.strictObject({ path, deleted: z.literal(true) }),
  ], { error: "needs a path and either content (a text) or deleted: true" })).min(1).max(MAX_FILES)
    .refine(
      (files) => new Set(files.map((file) => file.path)).size === files.length,
      { error: "names a path twice" },
    ).optional(),
});

/** Queues files that were sent directly. */
export async function receiveFiles(
  { project, files }: z.infer<typeof filesRequest>,
  store: ReceivingStore,
): Promise<Queued> {
  if (files === undefined) return await store.requestSync(project);
  const sent = await Promise.all(files.map(async (file) => {
    if (!("content" in file)) return { path: file.path, blobSha: null, content: null };
    const blobSha = await blobShaOf(new TextEncoder().encode(file.content));
    return { path: file.path, blobSha, content: file.content };
  }));
  return await store.receiveFiles(project, sent);
}
