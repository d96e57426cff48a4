import { SwarmError } from "../../../errors/swarm_error.ts";
import { nearestNames } from "../../../nearest_names.ts";
import type { Heading } from "../../../quoth/markdown/block.ts";
import { readFrontMatter } from "../../../quoth/markdown/front_matter.ts";
import { normalizeSource } from "../../../quoth/markdown/normalize_source.ts";
import { parseBlocks } from "../../../quoth/markdown/parse_blocks.ts";
import { toLabel } from "./label.ts";

/** Lines of a document, from 1, both inclusive. */
export interface LineRange {
  readonly startLine: number;
  readonly endLine: number;
}

/**
 * Finds the section under a heading, the sections below it included.
 *
 * @param wanted The heading's text, its anchor, or a path of headings joined by ` > `.
 * @throws SwarmError `DOCUMENT_NOT_FOUND` naming the headings most like it.
 */
export async function findSection(content: string, wanted: string): Promise<LineRange> {
  const text = normalizeSource(content);
  const { bodyStart } = await readFrontMatter(text);
  const linesBefore = text.slice(0, bodyStart).split("\n").length - 1;
  const body = text.slice(bodyStart);
  const headings = (await parseBlocks(body)).flatMap(({ heading, startLine }) =>
    heading === undefined ? [] : [{ heading, startLine }]
  );
  const name = wanted.split(" > ").at(-1) ?? wanted;
  const at = findHeading(headings.map(({ heading }) => heading), name);
  const found = headings[at];
  if (found === undefined) throw unknownHeading(wanted, headings.map(({ heading }) => heading));
  const next = headings.slice(at + 1).find(({ heading }) => heading.level <= found.heading.level);
  const lastLine = next?.startLine ?? body.replace(/\n$/, "").split("\n").length;
  return { startLine: linesBefore + found.startLine + 1, endLine: linesBefore + lastLine };
}

function findHeading(headings: readonly Heading[], wanted: string): number {
  // As search shows them.
  const plain = toLabel(wanted.replace(/^#+\s*/, "")).toLowerCase();
  const byText = headings.findIndex(({ text }) => toLabel(text).toLowerCase() === plain);
  return byText >= 0
    ? byText
    : headings.findIndex(({ anchor }) => anchor !== "" && anchor.toLowerCase() === plain);
}

function unknownHeading(wanted: string, headings: readonly Heading[]): SwarmError {
  const texts = headings.map(({ text }) => toLabel(text));
  const near = nearestNames(wanted, texts);
  const named = (near.length > 0 ? near : texts.slice(0, 20)).map((text) => text.slice(0, 100));
  return new SwarmError(
    "DOCUMENT_NOT_FOUND",
    `Cannot read the section '${wanted.slice(0, 100)}': the document has no such heading`,
    {
      hint: named.length === 0
        ? "The document has no headings: read it by lines."
        : `Headings are: ${named.join("; ")}.`,
    },
  );
}
