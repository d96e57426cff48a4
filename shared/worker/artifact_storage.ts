import { SwarmError } from "../errors/swarm_error.ts";

/** An object to be stored. */
export interface Artifact {
  /** In its bucket; of a task's file `{master_task_id}/{task_id}/{filename}`. */
  readonly path: string;
  readonly text: string;
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

/** Stores objects through the Storage API with the project's secret key. */
export function createArtifactStorage(options: ArtifactStorageOptions): ArtifactStorage {
  const { bucket = DEFAULT_BUCKET } = options;
  return {
    async put({ path, text, contentType }) {
      const objectPath = path.split("/").map(encodeURIComponent).join("/");
      const url = `${options.url}/storage/v1/object/${bucket}/${objectPath}`;
      const response = await send(`${bucket}/${path}`, url, {
        method: "POST",
        headers: {
          apikey: options.secretKey,
          authorization: `Bearer ${options.secretKey}`,
          "content-type": contentType,
          "x-upsert": "true",
        },
        body: text,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (!response.ok) {
        throw unavailable(`${bucket}/${path}`, `Storage answered ${response.status}`);
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

function unavailable(object: string, problem: string, cause?: unknown): SwarmError {
  return new SwarmError("STORAGE_UNAVAILABLE", `Cannot store ${object}: ${problem}`, {
    cause,
    hint: "Try again later; check that the bucket exists.",
  });
}
