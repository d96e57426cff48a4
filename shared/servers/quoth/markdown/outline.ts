import type { Block } from "./block.ts";

/** A heading with its content; the root has no heading and contains the whole document. */
export interface Section {
  /** 0 for the root. */
  readonly level: number;
  readonly parent: Section | null;
  /** Texts from the document's title down to this section's heading. */
  readonly path: readonly string[];
  readonly anchor: string | null;
  /** The heading, followed by everything before the first subheading. */
  readonly blocks: Block[];
  readonly children: Section[];
}

/** The document's tree of sections. Headings inside quotes and lists do not start one. */
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

/** A level-one heading that repeats the title adds nothing to the path. */
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

/** The innermost section that contains both. */
export function commonSection(one: Section, other: Section): Section {
  let [a, b] = [one, other];
  while (a !== b) {
    if (a.level >= b.level && a.parent !== null) a = a.parent;
    else if (b.parent !== null) b = b.parent;
    else return a;
  }
  return a;
}

/** The line after the section's last, including subsections. */
export function endLineOf(section: Section): number {
  const last = section.children.at(-1);
  return last === undefined ? section.blocks.at(-1)?.endLine ?? 0 : endLineOf(last);
}
