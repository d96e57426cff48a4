import { z } from "../../shared/vendor/zod.js";
import { storageError } from "./answers.ts";
import { toStorageAnswer } from "./storage_answers.ts";
import {
  callStorage,
  rewriteJson,
  type StorageCall,
  type StorageRouteDeps,
} from "./storage_service.ts";
import { readUpload } from "./upload_body.ts";

const OTHER_POSTS = /^\/object\/(list|list-v2|sign|info|public|move|copy|upload)(\/|$)/;
const SIGNED_UPLOAD = /^\/object\/upload\/sign\/([^/]+)\//;

const uploadedSchema = z.object({ Key: z.string(), Id: z.string().optional() });

/** Whether a request uploads an object. */
export function isUpload({ request, path }: StorageCall): boolean {
  if (SIGNED_UPLOAD.test(path)) return request.method === "PUT";
  return (request.method === "POST" || request.method === "PUT") &&
    path.startsWith("/object/") && !OTHER_POSTS.test(path);
}

/** Stores an object with the uploader's metadata. */
export async function uploadObject(call: StorageCall, deps: StorageRouteDeps): Promise<Response> {
  const upload = await readUpload(call.request);
  if (upload === null) {
    return storageError(400, "InvalidRequest", "Cannot store the object: the form has no file");
  }
  const answer = await callStorage(call, deps, upload.changes);
  if (!answer.ok) return await rewriteJson(answer, (body) => toStorageAnswer("", false, body));
  const { Key, Id } = uploadedSchema.parse(await answer.json());
  if (Id !== undefined && upload.userMetadata !== null) {
    await deps.sql`
      update storage.objects
      set user_metadata = ${deps.sql.json(upload.userMetadata)}
      where id = ${Id}`;
  }
  // For a signed URL, the service omits the bucket.
  const bucket = SIGNED_UPLOAD.exec(call.path)?.[1];
  return Response.json({ Key: bucket === undefined ? Key : `${bucket}/${Key}`, Id });
}
