import { pointerTo } from "../format/json_pointer.ts";

/** A row of a JSON tree. */
export interface JsonRow {
  /** JSON pointer, empty for the whole value; it identifies open rows. */
  readonly path: string;
  /** Name or index in its parent; empty for the whole value. */
  readonly name: string;
  readonly value: unknown;
  /** 1 for the whole value. */
  readonly level: number;
  readonly kind: "object" | "array" | "string" | "number" | "boolean" | "null";
  /** The number of members or items. */
  readonly childCount: number;
  readonly isExpanded: boolean;
  readonly position: number;
  readonly siblingCount: number;
}

/** Parts with at most this many members or items are open at first. */
const OPEN_AT_FIRST = 30;
/** The depth to which they are open. */
const LEVELS_AT_FIRST = 3;

/** The parts of a value that are open at first, so that a small answer is readable at once. */
export function pathsOpenAtFirst(value: unknown): Set<string> {
  const open = new Set<string>();
  function visit(part: unknown, path: string, level: number): void {
    const children = childrenOf(part);
    if (children === null || level > LEVELS_AT_FIRST) return;
    if (level > 1 && children.length > OPEN_AT_FIRST) return;
    open.add(path);
    for (const [name, child] of children.slice(0, OPEN_AT_FIRST)) {
      visit(child, pointerTo(path, name), level + 1);
    }
  }
  visit(value, "", 1);
  return open;
}

/** The rows of a value, from top to bottom, without those inside closed parts. */
export function jsonRows(value: unknown, open: ReadonlySet<string>): JsonRow[] {
  const rows: JsonRow[] = [];
  // Uses a stack instead of recursion, because values may nest deeper than calls can.
  type Pending = Pick<JsonRow, "path" | "name" | "value" | "level" | "position" | "siblingCount">;
  const pending: Pending[] = [
    { path: "", name: "", value, level: 1, position: 1, siblingCount: 1 },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const children = childrenOf(next.value);
    const isExpanded = children !== null && children.length > 0 && open.has(next.path);
    rows.push({
      ...next,
      kind: kindOf(next.value),
      childCount: children?.length ?? 0,
      isExpanded,
    });
    if (!isExpanded) continue;
    for (let index = children.length - 1; index >= 0; index--) {
      const child = children[index];
      if (child === undefined) continue;
      pending.push({
        path: pointerTo(next.path, child[0]),
        name: child[0],
        value: child[1],
        level: next.level + 1,
        position: index + 1,
        siblingCount: children.length,
      });
    }
  }
  return rows;
}

/** The text of a row after its name: the value, or its size. */
export function previewOf({ value, kind, childCount }: JsonRow, maxCharacters: number): string {
  if (kind === "object") return `{ ${childCount} ${childCount === 1 ? "member" : "members"} }`;
  if (kind === "array") return `[ ${childCount} ${childCount === 1 ? "item" : "items"} ]`;
  const text = JSON.stringify(value) ?? "null";
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}

function childrenOf(value: unknown): [string, unknown][] | null {
  if (Array.isArray(value)) return value.map((item, index) => [String(index), item]);
  return typeof value === "object" && value !== null ? Object.entries(value) : null;
}

function kindOf(value: unknown): JsonRow["kind"] {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "object" || type === "number" || type === "boolean" ? type : "string";
}
