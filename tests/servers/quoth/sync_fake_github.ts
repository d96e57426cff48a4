import { blobShaOf } from "../../../shared/servers/quoth/github/blob_sha.ts";

/** The files of a commit by path. */
export type Files = ReadonlyMap<string, Uint8Array<ArrayBuffer>>;

/** The fake's answer in place of the requested one; null for the real answer. */
export type Interference = (path: string) => Response | null;

interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly type: "blob" | "tree" | "commit";
  readonly sha: string;
  readonly size?: number;
}

/**
 * GitHub's REST API over one repository in memory, on loopback: references, trees, blobs. Ids of
 * blobs are Git's own; those of trees and commits are hashes of their contents.
 */
export class FakeGitHub implements AsyncDisposable {
  /** Requests so far, by their kind: `ref`, `trees` or `blobs`. */
  readonly requests = { ref: 0, trees: 0, blobs: 0 };
  /** Trees with more entries than this are truncated, as GitHub does at 100,000. */
  maxTreeEntries = Infinity;
  /** Requests without it get 404, as for a private repository. */
  token: string | null = null;
  interfere: Interference = () => null;
  readonly #repo: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #heads = new Map<string, string>();
  readonly #trees = new Map<string, readonly Entry[]>();
  readonly #blobs = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #commits = new Map<string, string>();

  constructor(repo: string) {
    this.#repo = repo;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#answer(new URL(request.url), request),
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Headers of the last request. */
  lastHeaders = new Headers();

  /** Creates a commit with these files and points the branch to it. */
  async push(branch: string, files: Files): Promise<string> {
    const treeSha = await this.#store(files);
    const commitSha = await hashOf(`commit ${treeSha} ${this.#commits.size}`);
    this.#commits.set(commitSha, treeSha);
    this.#heads.set(branch, commitSha);
    return commitSha;
  }

  /** Points the branch to an earlier commit. */
  reset(branch: string, commitSha: string): void {
    this.#heads.set(branch, commitSha);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  /** Stores a folder and its subfolders, and returns its tree's id. */
  async #store(files: Files): Promise<string> {
    const entries: Entry[] = [];
    const folders = new Map<string, Map<string, Uint8Array<ArrayBuffer>>>();
    for (const [path, bytes] of files) {
      const [name = "", ...rest] = path.split("/");
      if (rest.length === 0) {
        const sha = await blobShaOf(bytes);
        this.#blobs.set(sha, bytes);
        // As Git does for a symbolic link, whose content is its target.
        const mode = name.startsWith("link-") ? "120000" : "100644";
        entries.push({ path: name, mode, type: "blob", sha, size: bytes.byteLength });
      } else {
        const folder = folders.get(name) ?? new Map();
        folders.set(name, folder.set(rest.join("/"), bytes));
      }
    }
    for (const [name, content] of folders) {
      entries.push({ path: name, mode: "040000", type: "tree", sha: await this.#store(content) });
    }
    const sha = await hashOf(JSON.stringify(entries));
    this.#trees.set(sha, entries);
    return sha;
  }

  #answer(url: URL, request: Request): Response {
    this.lastHeaders = request.headers;
    const path = decodeURIComponent(url.pathname);
    const interference = this.interfere(path);
    if (interference !== null) return interference;
    if (this.token !== null && request.headers.get("authorization") !== `Bearer ${this.token}`) {
      return notFound();
    }
    const rest = path.startsWith(`/repos/${this.#repo}/git/`)
      ? path.slice(`/repos/${this.#repo}/git/`.length)
      : "";
    if (rest.startsWith("ref/heads/")) return this.#answerRef(rest.slice("ref/heads/".length));
    if (rest.startsWith("trees/")) {
      return this.#answerTree(rest.slice("trees/".length), url.searchParams.has("recursive"));
    }
    if (rest.startsWith("blobs/")) return this.#answerBlob(rest.slice("blobs/".length));
    return notFound();
  }

  #answerRef(branch: string): Response {
    this.requests.ref++;
    const sha = this.#heads.get(branch);
    return sha === undefined ? notFound() : Response.json({ object: { sha, type: "commit" } });
  }

  #answerTree(sha: string, isRecursive: boolean): Response {
    this.requests.trees++;
    const treeSha = this.#commits.get(sha) ?? sha;
    const level = this.#trees.get(treeSha);
    if (level === undefined) return notFound();
    if (!isRecursive) return Response.json({ sha: treeSha, tree: level, truncated: false });
    const all = this.#walk(level, "");
    return Response.json({
      sha: treeSha,
      tree: all.slice(0, this.maxTreeEntries),
      truncated: all.length > this.maxTreeEntries,
    });
  }

  #walk(entries: readonly Entry[], prefix: string): Entry[] {
    return entries.flatMap((entry) => {
      const own = { ...entry, path: prefix + entry.path };
      if (entry.type !== "tree") return [own];
      return [own, ...this.#walk(this.#trees.get(entry.sha) ?? [], `${own.path}/`)];
    });
  }

  #answerBlob(sha: string): Response {
    this.requests.blobs++;
    const bytes = this.#blobs.get(sha);
    return bytes === undefined ? notFound() : new Response(bytes);
  }
}

function notFound(): Response {
  return Response.json({ message: "Not Found" }, { status: 404 });
}

async function hashOf(text: string): Promise<string> {
  return await blobShaOf(new TextEncoder().encode(text));
}
