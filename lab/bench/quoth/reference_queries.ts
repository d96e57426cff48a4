import { z } from "../../../shared/vendor/zod.js";
import { findSection } from "../../../shared/servers/quoth/read_doc.ts";
import { listSections } from "../../../shared/servers/quoth/list_sections.ts";
import { readReferenceData, readReferenceFiles, type ReferenceFile } from "../reference_files.ts";
import type { Judgment } from "./score_ranking.ts";

/** The kinds of queries, from exact names to paraphrases. */
export const QUERY_KINDS = ["anchor", "sentence", "paraphrase", "identifier"] as const;

const querySchema = z.object({
  kind: z.enum(QUERY_KINDS),
  query: z.string(),
  relevant: z.array(z.string()).min(1),
  exclude: z.array(z.string()),
});

/** A query with its expected results. */
export interface ReferenceQuery {
  readonly kind: typeof QUERY_KINDS[number];
  readonly query: string;
  readonly judgment: Judgment;
}

/** Reads the reference documents and their queries, or null if this machine has none. */
export async function readReferenceQueries(): Promise<
  | { readonly files: readonly ReferenceFile[]; readonly queries: readonly ReferenceQuery[] }
  | null
> {
  const files = await readReferenceFiles();
  const packed = await readReferenceData("quoth/queries.jsonl");
  if (files === null || packed === null) return null;
  const contents = new Map(files.map(({ path, content }) => [path, content]));
  const lines = new TextDecoder().decode(packed).trim().split("\n");
  const queries = await Promise.all(lines.map(async (line): Promise<ReferenceQuery> => {
    const { kind, query, relevant, exclude } = querySchema.parse(JSON.parse(line));
    const judgment = {
      files: new Set(relevant.map((target) => target.split("#")[0] ?? "")),
      excluded: new Set(exclude),
      section: await sectionOf(relevant, contents),
    };
    return { kind, query, judgment };
  }));
  return { files, queries };
}

/** A link whose anchor is not a heading (but an HTML element) means the whole document. */
async function sectionOf(
  relevant: readonly string[],
  contents: ReadonlyMap<string, string>,
): Promise<Judgment["section"]> {
  const [file = "", anchor] = relevant.find((target) => target.includes("#"))?.split("#") ?? [];
  const content = contents.get(file);
  if (anchor === undefined || content === undefined) return null;
  try {
    const sections = await listSections({ content, title: file });
    return { file, range: findSection(sections, `#${anchor}`) };
  } catch {
    return null;
  }
}
