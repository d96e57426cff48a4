import { Buffer } from "node:buffer";
import { z } from "../../shared/vendor/zod.js";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { RequestChanges } from "./service_request.ts";

const UNNAMED_FILE = 'form-data; name=""; filename=';
const NAMED_FILE = 'form-data; name="file"; filename=';

const userMetadataSchema = z.record(z.string(), z.json());

/** An upload in the form that the service accepts. */
export interface UploadBody {
  readonly changes: RequestChanges;
  /** The uploader's metadata of the object. */
  readonly userMetadata: JsonObject | null;
}

/**
 * Converts a form upload, which supabase-js sends for Blobs and Files, to a plain body with
 * headers. The service expects a form field `file`, which the client does not send.
 *
 * @returns `null` for a form without a file.
 */
export async function readUpload(request: Request): Promise<UploadBody | null> {
  if (!request.headers.get("content-type")?.startsWith("multipart/form-data")) {
    return {
      changes: {},
      userMetadata: parseMetadata(fromBase64(request.headers.get("x-metadata"))),
    };
  }
  const form = await readForm(request);
  const file = [...form.values()].find((value) => value instanceof File);
  if (file === undefined) return null;
  const cacheSeconds = form.get("cacheControl");
  const metadata = form.get("metadata");
  return {
    changes: {
      body: file.stream(),
      headers: {
        "content-type": file.type || "application/octet-stream",
        "content-length": String(file.size),
        ...(typeof cacheSeconds === "string" && { "cache-control": `max-age=${cacheSeconds}` }),
      },
    },
    userMetadata: parseMetadata(typeof metadata === "string" ? metadata : null),
  };
}

/** Reads a form whose file has an empty field name, which Deno's parser would skip. */
async function readForm(request: Request): Promise<FormData> {
  const body = Buffer.from(await request.arrayBuffer());
  const at = body.indexOf(UNNAMED_FILE);
  const end = at + UNNAMED_FILE.length;
  const named = at < 0 ? [body] : [body.subarray(0, at), NAMED_FILE, body.subarray(end)];
  const headers = { "content-type": request.headers.get("content-type") ?? "" };
  return await new Response(new Blob(named), { headers }).formData();
}

function parseMetadata(text: string | null): JsonObject | null {
  if (text === null) return null;
  try {
    return userMetadataSchema.parse(JSON.parse(text));
  } catch {
    // Like the hosted platform, ignore metadata that is not a JSON object.
    return null;
  }
}

function fromBase64(text: string | null): string | null {
  if (text === null) return null;
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(text));
  } catch {
    return null;
  }
}
