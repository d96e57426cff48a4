/** A fenced block, by its lines counted from 1. */
export interface Fence {
  readonly startLine: number;
  readonly endLine: number;
}

const OPENING = /^(?:[\s>]|(?:[-*+]|\d{1,9}[.)])\s)*(`{3,}(?!.*`)|~{3,})/;

/**
 * Finds fences line by line, at any indent and in quotes and list items. It shares no code with the
 * parser of the splitter, which it checks.
 *
 * @returns The closed fences, and whether the last one is not closed.
 */
export function scanFences(text: string): { readonly fences: Fence[]; readonly isOpen: boolean } {
  const fences: Fence[] = [];
  let open: { readonly marker: string; readonly line: number } | null = null;
  for (const [index, line] of text.split("\n").entries()) {
    if (open === null) {
      const marker = OPENING.exec(line)?.[1];
      if (marker !== undefined) open = { marker, line: index + 1 };
    } else if (closes(line, open.marker)) {
      fences.push({ startLine: open.line, endLine: index + 1 });
      open = null;
    }
  }
  return { fences, isOpen: open !== null };
}

function closes(line: string, marker: string): boolean {
  const text = line.replace(/^[\s>]+/, "").trimEnd();
  return text.length >= marker.length && text === marker.charAt(0).repeat(text.length);
}
