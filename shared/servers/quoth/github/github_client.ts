import type { Bytes } from "../../../platform/values/bytes.ts";
import { z } from "../../../vendor/zod.js";
import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { TREE_LIMITS } from "../../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../../platform/json/parse_json.ts";
import { capBody } from "../../../platform/net/cap_body.ts";
import { blobShaOf } from "./blob_sha.ts";
import { githubFailure, unavailable } from "./github_failure.ts";
import type { GitHub, TreeFile } from "./github_port.ts";
import { encodePath, webUrlOf } from "./github_url.ts";

interface GitHubOptions {
  /** URL of the REST API, without a trailing slash. */
  readonly apiUrl: string;
  /** Null for public repositories. */
  readonly token: string | null;
  /** A `fetch` that refuses private addresses. */
  readonly fetch: typeof fetch;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

const TIMEOUT_MS = 20_000;
/** GitHub truncates a tree at 7 MB; the rest is reserve for other servers. */
const MAX_TREE_BYTES = 33_554_432;

const reference = z.object({ object: z.object({ sha: z.string().regex(/^[0-9a-f]{40}$/) }) });
const tree = z.object({
  truncated: z.boolean().default(false),
  tree: z.array(z.object({
    path: z.string(),
    mode: z.string(),
    type: z.string(),
    sha: z.string().regex(/^[0-9a-f]{40}$/),
    size: z.number().optional(),
  })),
});

/** The part of GitHub's REST API that a sync needs. */
export function createGitHubClient(options: GitHubOptions): GitHub {
  return {
    webUrl: webUrlOf(options.apiUrl),

    async headOf(repo, branch, signal) {
      const what = `the head of '${branch}' of '${repo}'`;
      const path = `${pathOf(repo)}/git/ref/heads/${encodePath(branch)}`;
      const answer = await getJson(path, reference, { what, signal });
      return answer.object.sha;
    },

    filesOf(repo, commitSha, signal) {
      const what = `the tree of ${commitSha.slice(0, 12)} of '${repo}'`;
      return readFiles(commitSha, async (sha, { isRecursive }): Promise<Tree> => {
        const query = isRecursive ? "?recursive=1" : "";
        const path = `${pathOf(repo)}/git/trees/${sha}${query}`;
        return await getJson(path, tree, { what, signal });
      });
    },

    async blobOf(repo, { sha, maxBytes }, signal) {
      const what = `the blob ${sha.slice(0, 12)} of '${repo}'`;
      const accept = "application/vnd.github.raw+json";
      const path = `${pathOf(repo)}/git/blobs/${sha}`;
      const bytes = await get(path, { what, signal, accept, maxBytes });
      if (await blobShaOf(bytes) !== sha) {
        throw unavailable(what, "its content does not match the id");
      }
      return bytes;
    },
  };

  async function getJson<T>(path: string, schema: z.ZodType<T>, question: Question): Promise<T> {
    const accept = "application/vnd.github+json";
    const bytes = await get(path, { ...question, accept, maxBytes: MAX_TREE_BYTES });
    try {
      return schema.parse(parseJsonOrUndefined(bytes, TREE_LIMITS));
    } catch (cause) {
      throw unavailable(question.what, "the response has an unexpected format", { cause });
    }
  }

  async function get(path: string, question: BytesQuestion): Promise<Bytes> {
    const { what, accept, maxBytes } = question;
    const signal = AbortSignal.any([question.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const response = await options.fetch(`${options.apiUrl}${path}`, {
        headers: headersFor(accept),
        signal,
      });
      if (!response.ok) throw await githubFailure(response, what, options.nowMs());
      return await capBody(response, maxBytes).bytes();
    } catch (error) {
      throw translated(error, what);
    }
  }

  function headersFor(accept: string): Record<string, string> {
    return {
      accept,
      "user-agent": "supaswarm-quoth",
      "x-github-api-version": "2022-11-28",
      ...(options.token === null ? {} : { authorization: `Bearer ${options.token}` }),
    };
  }
}

interface Question {
  /** The requested object, for the error. */
  readonly what: string;
  readonly signal: AbortSignal;
}

interface BytesQuestion extends Question {
  readonly accept: string;
  readonly maxBytes: number;
}

function translated(error: unknown, what: string): SwarmError {
  if (error instanceof SwarmError && error.code !== "TOOL_UNAVAILABLE") return error;
  return unavailable(what, "it is unreachable or too slow", { cause: error });
}

function pathOf(repo: string): string {
  return `/repos/${encodePath(repo)}`;
}

/** A tree as returned by GitHub's API. */
interface Tree {
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
type ReadTree = (sha: string, depth: { readonly isRecursive: boolean }) => Promise<Tree>;

const FILE_MODES: ReadonlySet<string> = new Set(["100644", "100755"]);
/** Far beyond any documentation; protects against a hostile server with an endless tree. */
const MAX_READS = 5_000;

/**
 * Every regular file under a tree or commit. If a response is truncated, its folders are read one
 * by one.
 */
async function readFiles(rootSha: string, readTree: ReadTree): Promise<readonly TreeFile[]> {
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
