import { DocumentLines } from "./markdown/document_lines.ts";
import { readFrontMatter } from "./markdown/front_matter.ts";
import { normalizeSource } from "./markdown/normalize_source.ts";
import { endLineOf, type Section, toOutline } from "./markdown/outline.ts";
import { parseBlocks, tile } from "./markdown/parse_blocks.ts";
import { toLabel } from "./label.ts";

/** Lines of a document, from 1, both inclusive. */
export interface LineRange {
  readonly startLine: number;
  readonly endLine: number;
}

/** A section of a document, including its subsections. */
export interface DocumentSection extends LineRange {
  /** The headings from the document's title to the section, as search shows them. */
  readonly headingPath: readonly string[];
  /** Null for the whole document and for headings without letters. */
  readonly anchor: string | null;
}

/** The whole document, under its title, followed by its sections in order. */
export type DocumentSections = readonly [whole: DocumentSection, ...DocumentSection[]];

/** Lists the sections of a document, with the same headings as search results. */
export async function listSections(
  { content, title }: { readonly content: string; readonly title: string },
): Promise<DocumentSections> {
  const text = normalizeSource(content);
  const { bodyStart } = await readFrontMatter(text);
  const linesBefore = text.slice(0, bodyStart).split("\n").length - 1;
  const body = text.slice(bodyStart);
  const { count } = new DocumentLines(body);
  const root = toOutline(tile(await parseBlocks(body), 0, count), title);
  const whole = {
    startLine: 1,
    endLine: Math.max(1, linesBefore + count),
    headingPath: root.path.map(toLabel),
    anchor: null,
  };
  const sections = sectionsBelow(root).filter(({ blocks }) => blocks[0]?.heading?.text !== "");
  return [
    whole,
    ...sections.map((section) => ({
      startLine: linesBefore + (section.blocks[0]?.startLine ?? 0) + 1,
      endLine: linesBefore + endLineOf(section),
      headingPath: section.path.map(toLabel),
      anchor: section.anchor,
    })),
  ];
}

function sectionsBelow({ children }: Section): Section[] {
  return children.flatMap((child) => [child, ...sectionsBelow(child)]);
}
