import type { Pglite } from "../../stack/deps.ts";

/** A file or folder of Emscripten's file system in memory. */
interface Node {
  contents: Uint8Array | Record<string, Node> | null;
  usedBytes: number;
  readonly mode: number;
  name: string;
  parent: Node;
  name_next?: Node | undefined;
}

/** What this module uses of Emscripten's runtime. */
export interface Runtime {
  readonly HEAPU8: Uint8Array;
  readonly stackSave: () => number;
  readonly stackRestore: (stack: number) => void;
  readonly FS: {
    readonly root: Node;
    streams: ({ node: Node } | null)[];
    readonly nameTable: (Node | undefined)[];
    readonly isDir: (mode: number) => boolean;
    readonly lookupPath: (path: string) => { node: Node & { rdev: number } };
    readonly devices: { stream_ops: Record<string, unknown> }[];
  };
  readonly MEMFS: {
    readonly stream_ops: { write: (stream: { node: Node }, ...rest: unknown[]) => number };
    readonly node_ops: { setattr: (node: Node, attributes: { size?: number }) => void };
    readonly ops_table: Record<string, {
      node?: { setattr?: (node: Node, attributes: { size?: number }) => void };
      stream?: { write?: unknown };
    }>;
  };
}

/** Memory is used from its beginning; no single allocation is larger and left untouched. */
const UNUSED_BYTES = 4 * 1024 * 1024;
const LEAST_BYTES = 16 * 1024 * 1024;

/** Returns Emscripten's runtime, which PGlite hides. */
export function runtimeOf(pglite: Pglite): Runtime {
  return (pglite as unknown as { mod: Runtime }).mod;
}

/**
 * The whole state of an idle PGlite in memory: WebAssembly's memory and the files. Restoring it takes
 * milliseconds, because only files that were written since are copied, and it keeps the plans,
 * compiled functions and catalog caches that the image has.
 */
export class MemoryImage {
  readonly #runtime: Runtime;
  readonly #memory: Uint8Array;
  readonly #stack: number;
  readonly #places: {
    node: Node;
    name: string;
    parent: Node;
    children: Record<string, Node> | null;
  }[] = [];
  readonly #names: Node[][];
  readonly #streams: ({ stream: { node: Node }; state: object } | null)[];
  /** Files as they were before their first write. */
  readonly #before = new Map<Node, { contents: Node["contents"]; usedBytes: number }>();

  /** Takes the image. Only the last image of a runtime can be restored. */
  constructor(runtime: Runtime) {
    const { FS } = runtime;
    this.#runtime = runtime;
    this.#stack = runtime.stackSave();
    this.#memory = runtime.HEAPU8.slice(0, usedLength(runtime.HEAPU8, LEAST_BYTES));
    this.#walk(FS.root);
    this.#names = FS.nameTable.map((first) => {
      const chain: Node[] = [];
      for (let node = first; node !== undefined; node = node.name_next) chain.push(node);
      return chain;
    });
    this.#streams = FS.streams.map((stream) => stream && { stream, state: { ...stream } });
    watchWrites(runtime, (node) => this.#keep(node));
  }

  #walk(node: Node): void {
    const isFolder = this.#runtime.FS.isDir(node.mode);
    const children = isFolder ? { ...node.contents as Record<string, Node> } : null;
    this.#places.push({ node, name: node.name, parent: node.parent, children });
    for (const child of Object.values(children ?? {})) this.#walk(child);
  }

  #keep(node: Node): void {
    if (this.#before.has(node)) return;
    // A small file may have a plain array.
    const contents = node.contents && (node.contents as Uint8Array).slice();
    this.#before.set(node, { contents, usedBytes: node.usedBytes });
  }

  /** Returns to the image. */
  restore(): void {
    const { FS, HEAPU8, stackRestore } = this.#runtime;
    stackRestore(this.#stack);
    HEAPU8.set(this.#memory);
    // Memory that has grown since is full of old data.
    HEAPU8.subarray(this.#memory.length, usedLength(HEAPU8, this.#memory.length)).fill(0);
    for (const [node, { contents, usedBytes }] of this.#before) {
      node.contents = contents && (contents as Uint8Array).slice();
      node.usedBytes = usedBytes;
    }
    for (const { node, name, parent, children } of this.#places) {
      Object.assign(node, { name, parent }, children && { contents: { ...children } });
    }
    FS.streams = this.#streams.map((kept) => kept && Object.assign(kept.stream, kept.state));
    this.#names.forEach((chain, bucket) => {
      FS.nameTable[bucket] = chain[0];
      chain.forEach((node, index) => node.name_next = chain[index + 1]);
    });
  }
}

/** The length of the used part of memory: what follows it is zero. */
function usedLength(memory: Uint8Array, least: number): number {
  const words = new BigUint64Array(memory.buffer, memory.byteOffset, memory.length >> 3);
  let end = least >> 3;
  for (let index = end; index < Math.min(words.length, end + (UNUSED_BYTES >> 3)); index++) {
    if (words[index] !== 0n) end = index + 1;
  }
  return end << 3;
}

const keepers = new WeakMap<Runtime, (node: Node) => void>();

/** Calls `keep` before a file changes; a later call replaces it. */
function watchWrites(runtime: Runtime, keep: (node: Node) => void): void {
  const isWatched = keepers.has(runtime);
  keepers.set(runtime, keep);
  if (isWatched) return;
  const note = (node: Node) => keepers.get(runtime)?.(node);
  const { stream_ops: streams, node_ops: nodes, ops_table: tables } = runtime.MEMFS;
  const { write } = streams;
  const { setattr } = nodes;
  streams.write = (stream, ...rest) => {
    note(stream.node);
    return write.call(streams, stream, ...rest);
  };
  for (const table of Object.values(tables)) {
    if (table.stream?.write !== undefined) table.stream.write = streams.write;
    if (table.node?.setattr === undefined) continue;
    table.node.setattr = (node, attributes) => {
      if (attributes.size !== undefined) note(node);
      return setattr.call(nodes, node, attributes);
    };
  }
}
