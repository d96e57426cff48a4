import { measureBundle } from "./bundle_size.ts";
import { costOf, measureColdImport } from "./cold_import.ts";
import { megabytes } from "./megabytes.ts";
import type { UploadSize } from "./upload_size.ts";

/** The bundle size and the cold import time of one function. */
export interface FunctionCost {
  readonly name: string;
  readonly bundleBytes: number;
  readonly compressedBytes: number;
  readonly importWallMs: number;
  readonly importCpuMs: number | null;
}

/** Half of the platform's limit of 5 MB for bundles that it builds itself. */
const MAX_COMPRESSED_BYTES = 2_500_000;

/** Part of the one second of CPU time after which an isolate gets no more requests. */
const MAX_IMPORT_MS = 300;

/** Measures each function's bundle and cold import, one after the other. */
export async function measureFunctions(
  projectRoot: string,
  functionNames: readonly string[],
): Promise<FunctionCost[]> {
  const costs: FunctionCost[] = [];
  for (const name of functionNames) {
    const entry = `supabase/functions/${name}/index.ts`;
    const { bytes, compressedBytes } = await measureBundle(projectRoot, entry);
    const cold = await measureColdImport(projectRoot, entry, MAX_IMPORT_MS);
    costs.push({
      name,
      bundleBytes: bytes,
      compressedBytes,
      importWallMs: Math.round(cold.wallMs),
      importCpuMs: cold.cpuMs === null ? null : Math.round(cold.cpuMs),
    });
  }
  return costs;
}

/** Reports functions that are too large to deploy without Docker, or too slow to start. */
export function bundleProblems(costs: readonly FunctionCost[]): string[] {
  return costs.flatMap((cost) => {
    const { name, compressedBytes, importWallMs: wallMs, importCpuMs: cpuMs } = cost;
    const importMs = costOf({ wallMs, cpuMs });
    return [
      ...compressedBytes < MAX_COMPRESSED_BYTES ? [] : [
        `${name}: the compressed bundle has ${megabytes(compressedBytes)} MB, the limit is ` +
        `${megabytes(MAX_COMPRESSED_BYTES)} MB; see scripts/vendor/vendored_modules.ts`,
      ],
      ...importMs < MAX_IMPORT_MS ? [] : [
        `${name}: the import takes ${importMs} ms of CPU time, the limit is ${MAX_IMPORT_MS} ms; ` +
        "load modules that the first request does not need with import()",
      ],
    ];
  });
}

/** Returns one line for each function. */
export function describeCosts(
  costs: readonly FunctionCost[],
  uploads: readonly UploadSize[],
): string[] {
  return costs.map(({ name, compressedBytes, importCpuMs, importWallMs }) => {
    const upload = uploads.find((candidate) => candidate.name === name);
    const sent = upload === undefined
      ? "not uploaded"
      : `${megabytes(upload.bytes)} MB uploaded in ${upload.files} files`;
    return `${name}: ${sent}, ${megabytes(compressedBytes)} MB compressed, cold import ` +
      `${importCpuMs ?? "?"} ms of CPU, ${importWallMs} ms`;
  });
}
