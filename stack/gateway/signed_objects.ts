import { z } from "../../shared/vendor/zod.js";
import { jsonAnswer, storageError } from "./answers.ts";
import { toStorageAnswer } from "./storage_answers.ts";
import {
  callStorage,
  STORAGE_PREFIX,
  type StorageCall,
  type StorageRouteDeps,
} from "./storage_service.ts";

const SIGNED_PATH = /^\/object\/(upload\/)?sign\//;
const SIGN_MANY_PATH = /^\/object\/sign\/([^/]+)\/?$/;
const NOT_SIGNED = "Either the object does not exist or you do not have access to it";

const orderSchema = z.object({ expiresIn: z.number(), paths: z.array(z.string()).max(1000) });
const signedSchema = z.object({ signedURL: z.string() });

/** Whether a request uses a signed URL. A `POST` creates one. */
export function usesSignedUrl({ request, path }: StorageCall): boolean {
  return request.method !== "POST" && SIGNED_PATH.test(path);
}

/** Whether the URL has a valid token of this project. */
export async function hasValidToken(
  { request }: StorageCall,
  { tokens }: StorageRouteDeps,
): Promise<boolean> {
  return await tokens.isValid(new URL(request.url).searchParams.get("token") ?? "");
}

/** Returns the bucket of a request to sign several objects, otherwise `undefined`. */
export function bucketOfSignMany({ request, path }: StorageCall): string | undefined {
  return request.method === "POST" ? SIGN_MANY_PATH.exec(path)?.[1] : undefined;
}

/** Signs several objects of a bucket. The service signs only one at a time. */
export async function signMany(
  call: StorageCall,
  bucket: string,
  deps: StorageRouteDeps,
): Promise<Response> {
  const order = orderSchema.safeParse(await call.request.json().catch(() => null));
  if (!order.success) return storageError(400, "InvalidRequest", z.prettifyError(order.error));
  const { expiresIn, paths } = order.data;
  const answers = [];
  for (const path of paths) {
    const url = new URL(call.request.url);
    const key = path.split("/").map(encodeURIComponent).join("/");
    url.pathname = `${STORAGE_PREFIX}/object/sign/${bucket}/${key}`;
    const answer = await callStorage(call, deps, { url, body: JSON.stringify({ expiresIn }) });
    const body = toStorageAnswer("/object/sign/", answer.ok, await answer.json());
    const signed = signedSchema.safeParse(body);
    answers.push(
      signed.success
        ? { path, signedURL: signed.data.signedURL, error: null }
        : { path, signedURL: null, error: NOT_SIGNED },
    );
  }
  return jsonAnswer(200, answers);
}
