import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";

/** A file of the reference corpus. */
export interface ReferenceFile {
  readonly path: string;
  readonly content: string;
}

/** Possible locations of the folder, relative to the checkout. */
const PLACES = ["../shared/data", "../../shared/data"];

/** Reads a file of the reference folder. Returns null if this machine does not have it. */
export async function readReferenceData(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
  for (const place of PLACES) {
    try {
      return await Deno.readFile(join(PROJECT_ROOT, place, name));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return null;
}

/** Reads the 460 Markdown files for Quoth's benchmarks, or null if this machine has none. */
export async function readReferenceFiles(): Promise<readonly ReferenceFile[] | null> {
  const packed = await readReferenceData("quoth/files.jsonl.gz");
  if (packed === null) return null;
  const text = await new Response(
    new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")),
  ).text();
  return text.trim().split("\n").map((line): ReferenceFile => JSON.parse(line));
}
