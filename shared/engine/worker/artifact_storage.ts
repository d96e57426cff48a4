import type { Bytes } from "../../platform/values/bytes.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { ANSWER_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../platform/json/parse_json.ts";
import { readBytes } from "../../platform/net/read_bytes.ts";
import { readText } from "../../platform/net/read_text.ts";
import { z } from "../../vendor/zod.js";

/** An object to store. */
export interface Artifact {
  /** Path in its bucket; for a task's file `{master_task_id}/{task_id}/{filename}`. */
  readonly path: string;
  readonly body: string | Bytes;
  readonly contentType: string;
}

/** Stores values that are too large for a row. */
export interface ArtifactStorage {
  /**
   * Stores an object; replaces one with the same path, so a repeated step may store it again.
   * Cannot be aborted, because the value may have been expensive; it times out after 15 seconds.
   *
   * @throws STORAGE_UNAVAILABLE
   */
  put(artifact: Artifact): Promise<void>;
}

/** Reads stored objects. */
export interface FileStorage {
  /**
   * Reads an object of at most `maxBytes`: users can replace theirs after its size was checked.
   *
   * @throws FILE_NOT_FOUND, FILES_TOO_LARGE, STORAGE_UNAVAILABLE, the reason of an aborted signal.
   */
  get(path: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array>;
}

/** Creates links to stored objects for users, and deletes objects. */
export interface LinkStorage {
  /**
   * Creates an address below the project's address at which anyone can read the object for that
   * time.
   *
   * @throws STORAGE_UNAVAILABLE
   */
  link(path: string, seconds: number): Promise<string>;
  /**
   * Deletes an object. A missing object is not an error.
   *
   * @throws STORAGE_UNAVAILABLE
   */
  remove(path: string): Promise<void>;
}

/** The Storage API's URL, key and bucket. */
export interface ArtifactStorageOptions {
  /** Address of the Supabase project. */
  readonly url: string;
  readonly secretKey: string;
  /** A private bucket. @default supaswarm-data */
  readonly bucket?: string;
}

/** Private bucket of the platform's data. */
const DEFAULT_BUCKET = "supaswarm-data";
const TIMEOUT_MS = 15_000;
/** Time limit of all requests to Storage except downloads. */
const MAX_ANSWER_BYTES = 64 * 1024;

const signedSchema = z.object({ signedURL: z.string().startsWith("/") });

type StorageAction = "store" | "read" | "link to" | "delete";

/** Stores and reads objects through the Storage API with the project's secret key. */
export function createArtifactStorage(
  options: ArtifactStorageOptions,
): ArtifactStorage & FileStorage & LinkStorage {
  const { bucket = DEFAULT_BUCKET } = options;
  const urlOf = (path: string, action = "object") => {
    const objectPath = path.split("/").map(encodeURIComponent).join("/");
    return `${options.url}/storage/v1/${action}/${bucket}/${objectPath}`;
  };
  const credentials = {
    apikey: options.secretKey,
    authorization: `Bearer ${options.secretKey}`,
  };
  return {
    async put({ path, body, contentType }) {
      const response = await send(`${bucket}/${path}`, urlOf(path), {
        method: "POST",
        headers: {
          ...credentials,
          "content-type": contentType,
          "x-upsert": "true",
        },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (!response.ok) {
        throw unavailable(`${bucket}/${path}`, `Storage responded with ${response.status}`);
      }
    },

    async get(path, maxBytes, signal) {
      const object = `${bucket}/${path}`;
      const request = { headers: credentials, signal: withTimeout(signal) };
      try {
        const response = await fetch(urlOf(path), request);
        if (response.ok) {
          const bytes = await readBytes(response, maxBytes);
          if (bytes === null) throw tooLarge(path, maxBytes);
          return bytes;
        }
        await response.body?.cancel();
        // Storage also responds with 400 for a missing object.
        if (response.status === 404 || response.status === 400) throw notFound(path);
        throw unavailable(object, `Storage responded with ${response.status}`, undefined, "read");
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SwarmError) throw error;
        throw unavailable(object, "Storage does not respond", error, "read");
      }
    },

    async link(path, seconds) {
      const object = `${bucket}/${path}`;
      const response = await send(object, urlOf(path, "object/sign"), {
        method: "POST",
        headers: { ...credentials, "content-type": "application/json" },
        body: JSON.stringify({ expiresIn: seconds }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }, "link to");
      const signed = signedSchema.safeParse(
        parseJsonOrUndefined((await readText(response, MAX_ANSWER_BYTES)).text, ANSWER_LIMITS),
      );
      if (!response.ok || !signed.success) {
        throw unavailable(
          object,
          `Storage responded with ${response.status}`,
          undefined,
          "link to",
        );
      }
      return `/storage/v1${signed.data.signedURL}`;
    },

    async remove(path) {
      const object = `${bucket}/${path}`;
      const response = await send(object, urlOf(path), {
        method: "DELETE",
        headers: credentials,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }, "delete");
      await response.body?.cancel();
      // Storage responds with 400 for a missing object.
      if (response.status >= 500) {
        throw unavailable(object, `Storage responded with ${response.status}`, undefined, "delete");
      }
    },
  };
}

async function send(
  object: string,
  url: string,
  request: RequestInit,
  action?: StorageAction,
): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (cause) {
    throw unavailable(object, "Storage does not respond", cause, action);
  }
}

function withTimeout(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
}

function notFound(path: string): SwarmError {
  return new SwarmError("FILE_NOT_FOUND", `Cannot read the file '${path}': it has been deleted`, {
    hint: "Upload it again to the same path, then retry the task.",
  });
}

function tooLarge(path: string, maxBytes: number): SwarmError {
  return new SwarmError(
    "FILES_TOO_LARGE",
    `Cannot read the file '${path}': it has more than the ${maxBytes} bytes that are left for it`,
    { hint: "Upload a smaller file to the same path, then retry the task." },
  );
}

function unavailable(
  object: string,
  problem: string,
  cause?: unknown,
  action: StorageAction = "store",
): SwarmError {
  return new SwarmError("STORAGE_UNAVAILABLE", `Cannot ${action} ${object}: ${problem}`, {
    cause,
    hint: "Try again later; check that the bucket exists.",
  });
}
