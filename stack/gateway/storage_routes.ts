import { z } from "../../shared/vendor/zod.js";
import { jsonAnswer, storageError } from "./answers.ts";
import { identifyCaller } from "./caller.ts";
import { listingSchema, listObjects } from "./object_listing.ts";
import { isUpload, uploadObject } from "./object_upload.ts";
import { refuseKey } from "./rest_routes.ts";
import { bucketOfSignMany, hasValidToken, signMany, usesSignedUrl } from "./signed_objects.ts";
import { toCopyAnswer, toStorageAnswer } from "./storage_answers.ts";
import {
  callStorage,
  invalidToken,
  rewriteJson,
  STORAGE_PREFIX,
  type StorageCall,
  type StorageRouteDeps,
} from "./storage_service.ts";

const copySchema = z.object({ bucketId: z.string(), destinationBucket: z.string().optional() });

/** Handles `/storage/v1/*` like Supabase Storage. */
export async function handleStorage(request: Request, deps: StorageRouteDeps): Promise<Response> {
  const caller = await identifyCaller(request, deps.keys, "key_optional");
  if (caller.kind === "refused") {
    return caller.reason === "token_invalid" ? invalidToken() : refuseKey(caller.reason);
  }
  const path = new URL(request.url).pathname.slice(STORAGE_PREFIX.length);
  // PostgreSQL text cannot contain a zero character.
  if (path.includes("%00")) return storageError(400, "InvalidKey", "Invalid object key");
  const call = { request, caller, path };
  if (usesSignedUrl(call) && !await hasValidToken(call, deps)) return invalidToken();
  if (isUpload(call)) return await uploadObject(call, deps);
  const bucketToSign = bucketOfSignMany(call);
  if (bucketToSign !== undefined) return await signMany(call, bucketToSign, deps);
  if (request.method === "POST" && path.startsWith("/object/list/")) return await list(call, deps);
  if (request.method === "POST" && path === "/object/copy") return await copy(call, deps);
  return await forward(call, deps);
}

async function list(call: StorageCall, { sql }: StorageRouteDeps): Promise<Response> {
  const bucket = decodeURIComponent(call.path.slice("/object/list/".length));
  const listing = listingSchema.safeParse(await call.request.json().catch(() => null));
  if (!listing.success) {
    return storageError(400, "InvalidRequest", z.prettifyError(listing.error));
  }
  return jsonAnswer(200, await listObjects(sql, call.caller, bucket, listing.data));
}

async function copy(call: StorageCall, deps: StorageRouteDeps): Promise<Response> {
  const order = copySchema.loose().safeParse(await call.request.json().catch(() => null));
  if (!order.success) return storageError(400, "InvalidRequest", z.prettifyError(order.error));
  const answer = await callStorage(call, deps, { body: JSON.stringify(order.data) });
  const { bucketId, destinationBucket = bucketId } = order.data;
  return await rewriteJson(
    answer,
    (body) => answer.ok ? toCopyAnswer(destinationBucket, body) : toStorageAnswer("", false, body),
  );
}

async function forward(call: StorageCall, deps: StorageRouteDeps): Promise<Response> {
  const url = new URL(call.request.url);
  url.pathname = url.pathname.replace("/object/authenticated/", "/object/");
  const answer = await callStorage(call, deps, { url });
  if (answer.ok && isDownload(call)) return namedDownload(answer, url);
  return await rewriteJson(answer, (body) => toStorageAnswer(call.path, answer.ok, body));
}

function isDownload({ request, path }: StorageCall): boolean {
  return request.method === "GET" && path.startsWith("/object/") &&
    !path.startsWith("/object/info/");
}

/** Adds the header for `?download=name`, with which the browser saves the object. */
function namedDownload(answer: Response, url: URL): Response {
  const name = url.searchParams.get("download");
  if (name === null) return answer;
  const headers = new Headers(answer.headers);
  headers.set(
    "content-disposition",
    name === "" ? "attachment" : `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
  );
  return new Response(answer.body, { status: answer.status, headers });
}
