import type { Patch } from "./vendored_modules.ts";

/** Removes a line of this pattern, which is without its indentation. */
export function withoutLines(file: string, line: string): Patch {
  return { file, from: new RegExp(`^ *${line}\\n`, "gm"), to: "" };
}

/** Removes a block, for example `if (isTraced) { … }`, whose first line has this pattern. */
export function withoutBlock(file: string, opening: string): Patch {
  return { file, from: blockThat(opening), to: "" };
}

/** Empties a class that the client never creates, but that its code names, to the file's end. */
export function withoutClassBody(file: string, name: string): Patch {
  return {
    file,
    from: new RegExp(String.raw`^export class ${name} \{\n[^]*`, "gm"),
    to: `export class ${name} {}\n`,
  };
}

/** Removes methods of a class, and properties that its constructor sets to async functions. */
export function withoutMembers(file: string, names: readonly string[]): Patch[] {
  return names.map((name) => ({
    file,
    from: blockThat(String.raw`(?:(?:async )?${name}\(.*\)|this\.${name} = async \(.*\) =>)`),
    to: "",
  }));
}

/**
 * Matches from a line that opens a block to the line that closes it, which has the same
 * indentation.
 *
 * @param opening The first line, without its indentation and its ` {`.
 * @param inner A line that the block must contain, without its indentation.
 */
export function blockThat(opening: string, inner?: string): RegExp {
  const lines = String.raw`(?:(?:\1 .*)?\n)*?`;
  const body = inner === undefined ? lines : String.raw`${lines}\1 +${inner}\n${lines}`;
  return new RegExp(String.raw`^( *)${opening} \{\n${body}\1\};?\n`, "gm");
}
