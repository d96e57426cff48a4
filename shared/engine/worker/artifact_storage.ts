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
/** Time limit of each request, with its answer. */
const TIMEOUT_MS = 15_000;
/** An answer with a link is shorter. */
const MAX_ANSWER_BYTES = 64 * 1024;

const signedSchema = z.object({ signedURL: z.string().startsWith("/") });

type StorageAction = "store" | "read" | "link to" | "delete";

interface StorageRequest<Answer> extends Pick<RequestInit, "method" | "body"> {
  readonly headers?: Readonly<Record<string, string>>;
  /** @default object */
  readonly endpoint?: "object" | "object/sign";
  readonly signal?: AbortSignal;
  /** Reads the answer; an exception that is not a `SwarmError` counts as no response. */
  readonly read: (response: Response) => Promise<Answer>;
}

/** Stores and reads objects through the Storage API with the project's secret key. */
export function createArtifactStorage(
  { url, secretKey, bucket = DEFAULT_BUCKET }: ArtifactStorageOptions,
): ArtifactStorage & FileStorage & LinkStorage {
  return {
    async put({ path, body, contentType }) {
      await send("store", path, {
        method: "POST",
        headers: { "content-type": contentType, "x-upsert": "true" },
        body,
        read: async (response) => {
          await response.body?.cancel();
          if (!response.ok) throw unavailable("store", path, responded(response));
        },
      });
    },

    async get(path, maxBytes, signal) {
      return await send("read", path, {
        signal,
        read: async (response) => {
          if (response.ok) return await readBytes(response, maxBytes) ?? tooLarge(path, maxBytes);
          await response.body?.cancel();
          if (isMissing(response)) throw notFound(path);
          throw unavailable("read", path, responded(response));
        },
      });
    },

    async link(path, seconds) {
      return await send("link to", path, {
        endpoint: "object/sign",
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ expiresIn: seconds }),
        read: async (response) => {
          const { text } = await readText(response, MAX_ANSWER_BYTES);
          const signed = signedSchema.safeParse(parseJsonOrUndefined(text, ANSWER_LIMITS));
          if (response.ok && signed.success) return `/storage/v1${signed.data.signedURL}`;
          throw unavailable("link to", path, responded(response));
        },
      });
    },

    async remove(path) {
      await send("delete", path, {
        method: "DELETE",
        read: async (response) => {
          await response.body?.cancel();
          if (response.ok || isMissing(response)) return;
          throw unavailable("delete", path, responded(response));
        },
      });
    },
  };

  async function send<Answer>(
    action: StorageAction,
    path: string,
    { endpoint = "object", headers, signal, read, ...request }: StorageRequest<Answer>,
  ): Promise<Answer> {
    const objectPath = path.split("/").map(encodeURIComponent).join("/");
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      return await read(
        await fetch(`${url}/storage/v1/${endpoint}/${bucket}/${objectPath}`, {
          ...request,
          headers: { ...headers, apikey: secretKey, authorization: `Bearer ${secretKey}` },
          signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        }),
      );
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof SwarmError) throw error;
      throw unavailable(action, path, "Storage does not respond", error);
    }
  }

  function unavailable(
    action: StorageAction,
    path: string,
    problem: string,
    cause?: unknown,
  ): SwarmError {
    const message = `Cannot ${action} ${bucket}/${path}: ${problem}`;
    return new SwarmError("STORAGE_UNAVAILABLE", message, {
      cause,
      hint: "Try again later; check that the bucket exists.",
    });
  }
}

function responded({ status }: Response): string {
  return `Storage responded with ${status}`;
}

/** Storage also responds with 400 for a missing object. */
function isMissing({ status }: Response): boolean {
  return status === 404 || status === 400;
}

function notFound(path: string): SwarmError {
  return new SwarmError("FILE_NOT_FOUND", `Cannot read the file '${path}': it has been deleted`, {
    hint: "Upload it again to the same path, then retry the task.",
  });
}

/** @throws FILES_TOO_LARGE */
function tooLarge(path: string, maxBytes: number): never {
  throw new SwarmError(
    "FILES_TOO_LARGE",
    `Cannot read the file '${path}': it has more than the ${maxBytes} bytes that are left for it`,
    { hint: "Upload a smaller file to the same path, then retry the task." },
  );
}
