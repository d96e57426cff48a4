import type { CLOSED_SETS } from "../../platform/db/closed_sets.ts";

/** Type and size of a file, which are known without reading it. */
export interface FileFacts {
  /** How a model reads the file. */
  readonly mediaType: string;
  readonly bytes: number;
}

/** The wire format in which a file reaches a model. */
type FileReader = (typeof CLOSED_SETS.llm_providers.api)[number];

/** Maximum tokens of an image of any size, because providers scale larger ones down. */
const IMAGE_TOKENS: Readonly<Record<FileReader, number>> = {
  anthropic: 1_600,
  google: 1_120,
  openai: 1_700,
};
/** Tokens of a page of a PDF: its text and, with some providers, its image. */
const PDF_PAGE_TOKENS: Readonly<Record<FileReader, number>> = {
  anthropic: 3_000,
  google: 560,
  openai: 2_500,
};
/** Bytes of a page with text and some images. Scans have more bytes per page, plain text fewer. */
const PDF_PAGE_BYTES = 40_000;
/** JSON and non-Latin scripts have fewer bytes per token than English. */
const BYTES_PER_TOKEN = 3.5;

/**
 * Estimates the tokens of a file; errs on the high side. The number of pages of a PDF is estimated
 * from its size, because it has no fixed place in the file.
 */
export function estimatedFileTokens({ mediaType, bytes }: FileFacts, api: FileReader): number {
  if (mediaType.startsWith("image/")) return IMAGE_TOKENS[api];
  if (mediaType === "application/pdf") {
    return Math.max(1, Math.ceil(bytes / PDF_PAGE_BYTES)) * PDF_PAGE_TOKENS[api];
  }
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
