import { type RequestOptions, type SupabaseLike, useBucket, userIdOf } from "./supabase.ts";

const BUCKET = "supaswarm-data";
const UPLOAD_HINT =
  "Give the name an extension that tasks accept, such as .pdf, .png, .txt, .md, .csv or .json. " +
  "Otherwise the quota stored_bytes has no room.";

/** The files that a user gives to jobs, and those of the user's jobs. */
export class Files {
  readonly #supabase: SupabaseLike;

  constructor(supabase: SupabaseLike) {
    this.#supabase = supabase;
  }

  /**
   * Uploads a file into the user's own folder, replacing one with the same name. The signal ends the
   * wait; the upload itself may still complete.
   *
   * @returns Its path, for `files` of a job's input.
   * @throws SwarmClientError
   */
  async upload(
    file: Blob,
    { name, signal }: RequestOptions & { readonly name: string },
  ): Promise<string> {
    signal?.throwIfAborted();
    const path = `${await userIdOf(this.#supabase)}/${name}`;
    await useBucket(
      this.#supabase,
      BUCKET,
      (bucket) => bucket.upload(path, file, { upsert: true }),
      { signal, forbiddenHint: UPLOAD_HINT },
    );
    return path;
  }

  /** Downloads a file of the user or of the user's jobs. @throws SwarmClientError */
  async download(path: string, { signal }: RequestOptions = {}): Promise<Blob> {
    return await useBucket<Blob>(
      this.#supabase,
      BUCKET,
      (bucket) => bucket.download(path, {}, { signal }),
      { signal },
    );
  }
}
