import type { CLOSED_SETS } from "./db/database.types.ts";

/** What is known of a file without reading it. */
export interface FileFacts {
  /** As what a model reads it. */
  readonly mediaType: string;
  readonly bytes: number;
}

/** The wire format in which a file reaches a model. */
type FileReader = (typeof CLOSED_SETS.llm_providers.api)[number];

/** What an image takes at most, whatever its size: providers scale larger ones down. */
const IMAGE_TOKENS: Readonly<Record<FileReader, number>> = {
  anthropic: 1_600,
  google: 1_120,
  openai: 1_700,
};
/** A page of a PDF: its text and, where the provider adds one, its picture. */
const PDF_PAGE_TOKENS: Readonly<Record<FileReader, number>> = {
  anthropic: 3_000,
  google: 560,
  openai: 2_500,
};
/** Of a page with text and some pictures; scans have more bytes a page, plain text has fewer. */
const PDF_PAGE_BYTES = 40_000;
/** JSON and other scripts than Latin have fewer bytes a token than English. */
const BYTES_PER_TOKEN = 3.5;

/**
 * About how many tokens a model will count of a file; rather more than fewer. The number of pages
 * of a PDF is guessed from its size, since it stands in no fixed place of the file.
 */
export function estimatedFileTokens({ mediaType, bytes }: FileFacts, api: FileReader): number {
  if (mediaType.startsWith("image/")) return IMAGE_TOKENS[api];
  if (mediaType === "application/pdf") {
    return Math.max(1, Math.ceil(bytes / PDF_PAGE_BYTES)) * PDF_PAGE_TOKENS[api];
  }
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
