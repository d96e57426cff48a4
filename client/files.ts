import { type SupabaseLike, useBucket, userIdOf } from "./supabase.ts";

const BUCKET = "supaswarm-data";

/** The files that a user gives to jobs, and those of the user's jobs. */
export class Files {
  readonly #supabase: SupabaseLike;

  constructor(supabase: SupabaseLike) {
    this.#supabase = supabase;
  }

  /**
   * Uploads a file into the user's own folder, replacing one with the same name.
   *
   * @returns Its path, for `files` of a job's input.
   * @throws SwarmClientError
   */
  async upload(file: Blob, { name }: { readonly name: string }): Promise<string> {
    const path = `${await userIdOf(this.#supabase)}/${name}`;
    await useBucket(
      this.#supabase,
      BUCKET,
      (bucket) => bucket.upload(path, file, { upsert: true }),
    );
    return path;
  }

  /** Downloads a file of the user or of the user's jobs. @throws SwarmClientError */
  async download(path: string): Promise<Blob> {
    return await useBucket<Blob>(this.#supabase, BUCKET, (bucket) => bucket.download(path));
  }
}
