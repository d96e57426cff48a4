import { z } from "../../shared/vendor/zod.js";

const PREFIX = "/storage/v1";

/** Supabase Storage's error codes by the error of the service. */
const ERROR_CODES: Readonly<Record<string, string>> = {
  not_found: "NoSuchKey",
  "Bucket not found": "NoSuchBucket",
  Duplicate: "KeyAlreadyExists",
  ResourceNotEmpty: "BucketNotEmpty",
  Unauthorized: "AccessDenied",
  InvalidJWT: "InvalidJWT",
  "Invalid key": "InvalidKey",
  invalid_mime_type: "InvalidMimeType",
  "Payload too large": "EntityTooLarge",
};

const errorSchema = z.looseObject({ error: z.string() });
const signedSchema = z.looseObject({ signedUrl: z.string() });
const copiedSchema = z.looseObject({ key: z.string() });
const infoSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  bucket_id: z.string(),
  version: z.string().nullable(),
  created_at: z.string(),
  user_metadata: z.json(),
  httpMetadata: z.looseObject({
    size: z.number(),
    mimetype: z.string(),
    cacheControl: z.string(),
    eTag: z.string(),
    lastModified: z.string(),
  }),
});

/** Converts a JSON response of the service to the format of Supabase Storage. */
export function toStorageAnswer(path: string, isOk: boolean, body: unknown): unknown {
  if (!isOk) {
    const failure = errorSchema.safeParse(body);
    const code = failure.success ? ERROR_CODES[failure.data.error] : undefined;
    return failure.success && code !== undefined ? { ...failure.data, code } : body;
  }
  if (path.startsWith("/object/upload/sign/")) return toSignedUpload(body);
  if (path.startsWith("/object/sign/")) {
    return Array.isArray(body) ? body.map(toSignedDownload) : toSignedDownload(body);
  }
  if (path.startsWith("/object/info/")) return toObjectInfo(body);
  return body;
}

/** Adds the bucket to the response to a copy. */
export function toCopyAnswer(bucket: string, body: unknown): unknown {
  const copied = copiedSchema.safeParse(body);
  return copied.success ? { Key: `${bucket}/${copied.data.key}` } : body;
}

function toSignedDownload(body: unknown): unknown {
  const signed = signedSchema.safeParse(body);
  if (!signed.success) return body;
  const { signedUrl, ...rest } = signed.data;
  return { ...rest, signedURL: signedUrl === "" ? null : signedUrl.replace(PREFIX, "") };
}

function toSignedUpload(body: unknown): unknown {
  const signed = signedSchema.safeParse(body);
  if (!signed.success) return body;
  const { signedUrl, ...rest } = signed.data;
  return { ...rest, url: signedUrl.replace(PREFIX, "") };
}

function toObjectInfo(body: unknown): unknown {
  const info = infoSchema.safeParse(body);
  if (!info.success) return body;
  const { id, name, bucket_id, version, created_at, user_metadata, httpMetadata } = info.data;
  return {
    id,
    name,
    bucket_id,
    version,
    created_at,
    metadata: user_metadata,
    size: httpMetadata.size,
    content_type: httpMetadata.mimetype,
    cache_control: httpMetadata.cacheControl,
    etag: httpMetadata.eTag,
    last_modified: httpMetadata.lastModified,
  };
}
