import { megabytes } from "./megabytes.ts";
import type { Deployment } from "./management_api.ts";

/** The upload of one function, as the CLI sends it: all its files, neither bundled nor compressed. */
export interface UploadSize {
  readonly name: string;
  readonly files: number;
  /** Size of the request's body. */
  readonly bytes: number;
  /** The largest files first. */
  readonly largest: readonly { readonly path: string; readonly bytes: number }[];
}

/** The platform refuses a function with more than 5 MB. Own changes of a user need some of it. */
const MAX_UPLOAD_BYTES = 3_400_000;

const LARGEST_FILES = 5;

/** Measures an upload. */
export function uploadSizeOf({ slug, bytes, contents }: Deployment): UploadSize {
  const largest = [...contents].map(([path, { size }]) => ({ path, bytes: size }))
    .sort((a, b) => b.bytes - a.bytes).slice(0, LARGEST_FILES);
  return { name: slug, files: contents.size, bytes, largest };
}

/** Reports an upload that the platform may refuse, with the files that count most. */
export function uploadProblems({ name, bytes, largest }: UploadSize): string[] {
  if (bytes < MAX_UPLOAD_BYTES) return [];
  const files = largest.map((file) => `${file.path} ${megabytes(file.bytes)}`).join(", ");
  return [
    `${name}: the upload has ${megabytes(bytes)} MB, the limit is ${megabytes(MAX_UPLOAD_BYTES)} ` +
    `MB; the largest files are, in MB: ${files}; see scripts/vendor/unused_code.ts`,
  ];
}
