import { SwarmError } from "../errors/swarm_error.ts";

/** An object to store. */
export interface Artifact {
  /** Path in its bucket; for a task's file `{master_task_id}/{task_id}/{filename}`. */
  readonly path: string;
  readonly text: string;
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
   * Reads an object.
   *
   * @throws STORAGE_UNAVAILABLE, the reason of an aborted signal.
   */
  get(path: string, signal: AbortSignal): Promise<Uint8Array>;
}

/** The Storage API's URL, key and bucket. */
export interface ArtifactStorageOptions {
  /** Address of the Supabase project. */
  readonly url: string;
  readonly secretKey: string;
  /** A private bucket. @default supaswarm-data */
  readonly bucket?: string;
}

/** Private bucket of the swarm's data. */
const DEFAULT_BUCKET = "supaswarm-data";
const TIMEOUT_MS = 15_000;

/** Stores and reads objects through the Storage API with the project's secret key. */
export function createArtifactStorage(
  options: ArtifactStorageOptions,
): ArtifactStorage & FileStorage {
  const { bucket = DEFAULT_BUCKET } = options;
  const urlOf = (path: string) => {
    const objectPath = path.split("/").map(encodeURIComponent).join("/");
    return `${options.url}/storage/v1/object/${bucket}/${objectPath}`;
  };
  const credentials = {
    apikey: options.secretKey,
    authorization: `Bearer ${options.secretKey}`,
  };
  return {
    async put({ path, text, contentType }) {
      const response = await send(`${bucket}/${path}`, urlOf(path), {
        method: "POST",
        headers: {
          ...credentials,
          "content-type": contentType,
          "x-upsert": "true",
        },
        body: text,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (!response.ok) {
        throw unavailable(`${bucket}/${path}`, `Storage responded with ${response.status}`);
      }
    },

    async get(path, signal) {
      const object = `${bucket}/${path}`;
      const request = { headers: credentials, signal: withTimeout(signal) };
      try {
        const response = await fetch(urlOf(path), request);
        if (response.ok) return new Uint8Array(await response.arrayBuffer());
        await response.body?.cancel();
        throw unavailable(object, `Storage responded with ${response.status}`, undefined, "read");
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SwarmError) throw error;
        throw unavailable(object, "Storage does not respond", error, "read");
      }
    },
  };
}

async function send(object: string, url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (cause) {
    throw unavailable(object, "Storage does not respond", cause);
  }
}

function withTimeout(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
}

function unavailable(
  object: string,
  problem: string,
  cause?: unknown,
  action: "store" | "read" = "store",
): SwarmError {
  return new SwarmError("STORAGE_UNAVAILABLE", `Cannot ${action} ${object}: ${problem}`, {
    cause,
    hint: "Try again later; check that the bucket exists.",
  });
}
