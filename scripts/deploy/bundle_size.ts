import { join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { loadEsbuild } from "../deps.ts";
import { EDGE_DENO, runEdgeDeno } from "./edge_deno.ts";
import { moduleGraph, reachedFrom } from "./module_graph.ts";

/** The size of one function's bundle. */
export interface BundleSize {
  readonly bytes: number;
  /** Compressed size, as the CLI uploads it and the platform counts it. */
  readonly compressedBytes: number;
}

/** A module or a file of a package in a bundle. */
interface BundledFile {
  readonly name: string;
  readonly content: Uint8Array;
}

/** The CLI's compression level for bundles. */
const BROTLI_QUALITY = 6;
const compress = promisify(brotliCompress);
const encoder = new TextEncoder();

/**
 * Builds the bundle that the edge runtime embeds for a function, and compresses it like the CLI.
 * The bundle has every module that the code may load, transpiled with an inline source map, and the
 * whole folder of every npm package and its dependencies. Type imports embed nothing.
 *
 * @param entry Path of the function's `index.ts`, relative to the project's root.
 * @throws Error when a module or a package cannot be loaded.
 */
export async function measureBundle(projectRoot: string, entry: string): Promise<BundleSize> {
  const graph = await moduleGraph(projectRoot, entry);
  const reached = [...reachedFrom(entry, graph, { includeDynamic: true })].sort();
  const modules = reached.filter((path) => !/^(npm|node):/.test(path));
  return await sizeOf([
    ...await Promise.all(modules.map((path) => readModule(projectRoot, path))),
    ...await fetchPackages(reached.filter((specifier) => specifier.startsWith("npm:"))),
  ]);
}

/** The runtime embeds TypeScript as JavaScript with its source, and JavaScript unchanged. */
async function readModule(projectRoot: string, path: string): Promise<BundledFile> {
  const source = await Deno.readTextFile(join(projectRoot, path));
  if (!path.endsWith(".ts")) return { name: path, content: encoder.encode(source) };
  const { transform } = await loadEsbuild();
  const { code } = await transform(source, {
    loader: "ts",
    sourcefile: path,
    sourcemap: "inline",
    sourcesContent: true,
    target: "esnext",
  });
  return { name: path, content: encoder.encode(code) };
}

/** Reads the folders that the runtime's Deno creates for these packages in an empty cache. */
async function fetchPackages(specifiers: readonly string[]): Promise<BundledFile[]> {
  if (specifiers.length === 0) return [];
  const cache = await Deno.makeTempDir({ prefix: "supaswarm-bundle-" });
  try {
    const args = ["cache", "--no-config", "--no-lock", ...specifiers];
    const { succeeded, stderr } = await runEdgeDeno(cache, args, { DENO_DIR: cache });
    if (!succeeded) {
      throw new Error(`${EDGE_DENO} cannot fetch ${specifiers.join(", ")}:\n${stderr}`);
    }
    return await readPackages(join(cache, "npm"));
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
}

async function readPackages(folder: string): Promise<BundledFile[]> {
  const files: BundledFile[] = [];
  const visit = async (path: string) => {
    for await (const { name, isDirectory } of Deno.readDir(path)) {
      const inside = join(path, name);
      if (isDirectory) await visit(inside);
      // The registry's metadata of a package, beside the folders of its versions.
      else if (name !== "registry.json") {
        files.push({ name: relative(folder, inside), content: await Deno.readFile(inside) });
      }
    }
  };
  await visit(folder);
  return files.sort((a, b) => a.name < b.name ? -1 : 1);
}

async function sizeOf(files: readonly BundledFile[]): Promise<BundleSize> {
  const parts = files.flatMap(({ name, content }) => [encoder.encode(`${name}\n`), content]);
  const bundle = new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
  const compressed = await compress(bundle, {
    params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
  });
  return { bytes: bundle.length, compressedBytes: compressed.length };
}
