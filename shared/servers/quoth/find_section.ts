import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import { toLabel } from "./label.ts";
import type { DocumentSection, DocumentSections, LineRange } from "./list_sections.ts";

/** Between the headings of a path. */
const SEPARATOR = " > ";
/** Maximum number of headings in an error. */
const MAX_NAMED = 20;

/**
 * Finds the section under a heading. A full path, including the title, always matches; a heading
 * alone or the end of a path matches only if it is unique.
 *
 * @param wanted The heading's text, its anchor, or a path of headings joined by ` > `.
 * @throws SwarmError `DOCUMENT_NOT_FOUND` with the possible sections.
 */
export function findSection(
  [whole, ...sections]: DocumentSections,
  wanted: string,
): DocumentSection {
  const anchor = wanted.replace(/^#/, "").toLowerCase();
  const anchored = sections.find((section) => section.anchor?.toLowerCase() === anchor);
  if (anchored !== undefined && wanted.startsWith("#")) return anchored;
  const name = toLabel(wanted).replaceAll(/(^| > )#+\s*/g, "$1").toLowerCase();
  const complete = sections.filter((section) => namesOf(section)[0] === name);
  const named = complete.length > 0
    ? complete
    : sections.filter((section) => namesOf(section).includes(name));
  if (named.length > 1) throw severalHeadings(wanted, named);
  const found = named[0] ?? anchored ?? (namesOf(whole)[0] === name ? whole : undefined);
  if (found === undefined) throw unknownHeading(wanted, sections);
  return found;
}

/** The innermost section that contains all of the lines. */
export function sectionAt(sections: DocumentSections, lines: LineRange): DocumentSection {
  return sections.findLast(({ startLine, endLine }) =>
    startLine <= lines.startLine && lines.endLine <= endLine
  ) ?? sections[0];
}

/** The section's path and all its suffixes, the longest first. */
function namesOf({ headingPath }: DocumentSection): string[] {
  return headingPath.map((_, from) => headingPath.slice(from).join(SEPARATOR).toLowerCase());
}

function severalHeadings(wanted: string, named: readonly DocumentSection[]): SwarmError {
  const choices = named.slice(0, MAX_NAMED).map((section) =>
    section.anchor === null ? pathOf(section) : `${pathOf(section)} (#${toLabel(section.anchor)})`
  );
  return new SwarmError(
    "DOCUMENT_NOT_FOUND",
    `Cannot read the section '${
      wanted.slice(0, 100)
    }': the document has ${named.length} such headings`,
    { hint: `Name one by its path or anchor: ${choices.join("; ")}.` },
  );
}

function unknownHeading(wanted: string, sections: readonly DocumentSection[]): SwarmError {
  const near = nearestNames(wanted.split(SEPARATOR).at(-1) ?? wanted, sections.map(headingOf));
  const alike = sections.filter((section) => near.includes(headingOf(section)));
  const named = (alike.length > 0 ? alike : sections).slice(0, MAX_NAMED).map(pathOf);
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

function headingOf({ headingPath }: DocumentSection): string {
  return headingPath.at(-1) ?? "";
}

function pathOf({ headingPath }: DocumentSection): string {
  return headingPath.join(SEPARATOR).slice(0, 300);
}
