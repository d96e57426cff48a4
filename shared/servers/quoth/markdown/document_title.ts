import type { JsonObject } from "../../../platform/values/json.ts";
import type { Block } from "./block.ts";
import { beginningOf } from "../../../platform/values/beginning_of.ts";

/** Longer titles are truncated: they would crowd out the text that follows. */
const MAX_TITLE_CHARS = 200;

/** Files with these names are titled after their folder. */
const FOLDER_FILES = /^(?:_?index|readme)$/i;

/** The front matter's title, otherwise the first level-one heading, otherwise the file's name. */
export function documentTitle(
  frontMatter: JsonObject,
  blocks: readonly Block[],
  filePath: string,
): string {
  const { title } = frontMatter;
  const given = typeof title === "string" || typeof title === "number" ? String(title) : "";
  const heading = blocks.find((block) => block.heading?.level === 1 && block.heading.text !== "");
  const chosen = given.replace(/\s+/g, " ").trim() || (heading?.heading?.text ?? "") ||
    fileTitle(filePath);
  return beginningOf(chosen, MAX_TITLE_CHARS);
}

function fileTitle(filePath: string): string {
  const [file = "", folder] = filePath.split("/").filter((part) => part !== "").reverse();
  const name = file.replace(/(?<=.)\.[^.]*$/, "");
  return (FOLDER_FILES.test(name) ? folder : undefined) ?? (name || "Untitled");
}
