import type { Block } from "./block.ts";

/** A heading with what stands under it; the root has none and holds the whole document. */
export interface Section {
  /** 0 for the root. */
  readonly level: number;
  readonly parent: Section | null;
  /** Texts from the document's title down to this section's heading. */
  readonly path: readonly string[];
  readonly anchor: string | null;
  /** The heading, then everything before the first heading below. */
  readonly blocks: Block[];
  readonly children: Section[];
}

/** The document's tree of sections. Headings inside quotes and lists open none. */
export function toOutline(blocks: readonly Block[], title: string): Section {
  const root: Section = {
    level: 0,
    parent: null,
    path: [title],
    anchor: null,
    blocks: [],
    children: [],
  };
  const open = [root];
  for (const block of blocks) {
    if (block.heading !== undefined) {
      while ((open.at(-1)?.level ?? 0) >= block.heading.level) open.pop();
      const parent = open.at(-1) ?? root;
      const section = openSection(block, parent, title);
      parent.children.push(section);
      open.push(section);
    } else {
      open.at(-1)?.blocks.push(block);
    }
  }
  return root;
}

/** A first-level heading that says the title again adds nothing to the path. */
function openSection(block: Block, parent: Section, title: string): Section {
  const { level, text, anchor } = block.heading ?? { level: 1, text: "", anchor: "" };
  const isTitle = text === "" || (level === 1 && text === title);
  return {
    level,
    parent,
    path: isTitle ? parent.path : [...parent.path, text],
    anchor: anchor === "" ? null : anchor,
    blocks: [block],
    children: [],
  };
}

/** The innermost section that holds both. */
export function commonSection(one: Section, other: Section): Section {
  let [a, b] = [one, other];
  while (a !== b) {
    if (a.level >= b.level && a.parent !== null) a = a.parent;
    else if (b.parent !== null) b = b.parent;
    else return a;
  }
  return a;
}

/** The line after the section's last, sections below included. */
export function endLineOf(section: Section): number {
  const last = section.children.at(-1);
  return last === undefined ? section.blocks.at(-1)?.endLine ?? 0 : endLineOf(last);
}
