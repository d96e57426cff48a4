import { unavailable } from "./github_failure.ts";
import type { TreeFile } from "./github_port.ts";

/** A tree as returned by GitHub's API. */
export interface Tree {
  /** Whether entries are missing, as in trees of more than 100,000 entries or 7 MB. */
  readonly truncated: boolean;
  readonly tree: readonly {
    readonly path: string;
    readonly mode: string;
    readonly type: string;
    readonly sha: string;
    readonly size?: number | undefined;
  }[];
}

/** Reads one tree, with or without its subtrees. */
export type ReadTree = (sha: string, depth: { readonly isRecursive: boolean }) => Promise<Tree>;

const FILE_MODES: ReadonlySet<string> = new Set(["100644", "100755"]);
/** Far beyond any documentation; protects against a hostile server with an endless tree. */
const MAX_READS = 5_000;

/**
 * Every regular file under a tree or commit. If a response is truncated, its folders are read one
 * by one.
 */
export async function readFiles(rootSha: string, readTree: ReadTree): Promise<readonly TreeFile[]> {
  const files: TreeFile[] = [];
  let reads = 0;
  await collect(rootSha, "");
  return files;

  async function collect(sha: string, prefix: string): Promise<void> {
    const whole = await read(sha, { isRecursive: true });
    if (!whole.truncated) return add(whole, prefix);
    const level = await read(sha, { isRecursive: false });
    if (level.truncated) {
      throw unavailable(`the folder '${prefix}'`, "it has too many entries to be listed");
    }
    add(level, prefix);
    for (const entry of level.tree) {
      if (entry.type === "tree") await collect(entry.sha, `${prefix}${entry.path}/`);
    }
  }

  function read(sha: string, depth: { readonly isRecursive: boolean }): Promise<Tree> {
    if (++reads > MAX_READS) throw unavailable("the tree", `it takes over ${MAX_READS} requests`);
    return readTree(sha, depth);
  }

  function add({ tree }: Tree, prefix: string): void {
    for (const { path, mode, type, sha, size } of tree) {
      if (type !== "blob" || !FILE_MODES.has(mode)) continue;
      files.push({ path: prefix + path, blobSha: sha, sizeBytes: size ?? 0 });
    }
  }
}
