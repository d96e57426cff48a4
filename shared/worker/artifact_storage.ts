import { SwarmError } from "../errors/swarm_error.ts";

/** An object to be stored. */
export interface Artifact {
  /** In its bucket; of a task's file `{master_task_id}/{task_id}/{filename}`. */
  readonly path: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** Keeps what is too large for a row. */
export interface ArtifactStorage {
  /**
   * Stores an object; one of the same path is replaced, so a repeated step may store it again.
   * Cannot be aborted, since what it stores may have cost much; it gives up after 15 seconds.
   *
   * @throws STORAGE_UNAVAILABLE
   */
  put(artifact: Artifact): Promise<void>;
}

/** Reads what is stored. */
export interface FileStorage {
  /**
   * Reads an object.
   *
   * @throws FILE_NOT_FOUND, STORAGE_UNAVAILABLE, the reason of an aborted signal.
   */
  get(path: string, signal: AbortSignal): Promise<Uint8Array>;
}

/** Where the objects go, and with which key. */
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
        throw unavailable(`${bucket}/${path}`, `Storage answered ${response.status}`);
      }
    },

    async get(path, signal) {
      const object = `${bucket}/${path}`;
      const request = { headers: credentials, signal: withTimeout(signal) };
      try {
        const response = await fetch(urlOf(path), request);
        if (response.ok) return new Uint8Array(await response.arrayBuffer());
        await response.body?.cancel();
        // Storage also answers 400 for an object that is not there.
        if (response.status === 404 || response.status === 400) throw notFound(path);
        throw unavailable(object, `Storage answered ${response.status}`, undefined, "read");
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SwarmError) throw error;
        throw unavailable(object, "Storage does not answer", error, "read");
      }
    },
  };
}

async function send(object: string, url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (cause) {
    throw unavailable(object, "Storage does not answer", cause);
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
