/** The classes of code points that a regular expression engine reads, as the package declares them. */
interface RangeTable {
  readonly length: number;
  getLo(index: number): number;
  getHi(index: number): number;
  getStride(index: number): number;
}

type Range = readonly [lo: number, hi: number];

const PLANE = 0x10000;
const BLOCK = 0x400;
/** The planes whose characters differ in a property: the others are empty, or for private use. */
const VARIED_PLANES = [0, 1, 2, 3, 14];
/** A property of ECMA-262, as in `\p{Lu}` or `\p{Script=Greek}`. */
const PROPERTY = /^\w+(?:=\w+)?$/;
/** There are about 400 properties; a table has up to 1,500 ranges. */
const MAX_TABLES = 100;

/**
 * Tables of Unicode properties, which replace those of `re2js`: the JavaScript engine has the same
 * ones. A table is built when a pattern first names it, which takes about 5 ms.
 */
export class PropertyTables {
  readonly #tables = new Map<string, RangeTable>();
  readonly #build: (property: string) => Range[];

  constructor(build: (property: string) => Range[] = rangesOf) {
    this.#build = build;
  }

  /** Whether ECMA-262 has the property. */
  has(property: string): boolean {
    if (!PROPERTY.test(property)) return false;
    try {
      return propertyPattern(property) !== null;
    } catch {
      return false;
    }
  }

  /** The code points of a property that exists. */
  get(property: string): RangeTable {
    const known = this.#tables.get(property);
    if (known !== undefined) return known;
    const [oldest] = this.#tables.keys();
    if (this.#tables.size >= MAX_TABLES && oldest !== undefined) this.#tables.delete(oldest);
    const table = tableOf(this.#build(property));
    this.#tables.set(property, table);
    return table;
  }
}

/**
 * The code points that belong to a property only because case is ignored.
 *
 * @param orbits For each code point with several cases, the next one of the same letter.
 */
export function foldedRanges(property: string, orbits: ReadonlyMap<number, number>): Range[] {
  const pattern = propertyPattern(property);
  const belongs = (point: number) => pattern.test(String.fromCodePoint(point));
  const ranges: Range[] = [];
  for (const start of withAscii(orbits)) {
    if (belongs(start)) continue;
    let point = nextCase(start, orbits);
    while (point !== start && !belongs(point)) point = nextCase(point, orbits);
    if (point !== start) ranges.push([start, start]);
  }
  return ranges;
}

/** The ASCII letters are not among the orbits, except those that have a third case. */
function withAscii(orbits: ReadonlyMap<number, number>): number[] {
  const ascii = Array.from({ length: 0x80 }, (_, point) => point);
  return [...ascii, ...[...orbits.keys()].filter((point) => point >= 0x80)]
    .sort((a, b) => a - b);
}

function nextCase(point: number, orbits: ReadonlyMap<number, number>): number {
  const next = orbits.get(point);
  if (next !== undefined) return next;
  const letter = String.fromCharCode(point);
  return point < 0x80 && /[A-Za-z]/.test(letter) ? point ^ 0x20 : point;
}

function propertyPattern(property: string): RegExp {
  return new RegExp(`\\p{${property}}`, "u");
}

function rangesOf(property: string): Range[] {
  const runs = new RegExp(`\\p{${property}}+`, "gu");
  const ranges: Range[] = [];
  for (let plane = 0; plane <= 16; plane++) {
    const blocks = VARIED_PLANES.includes(plane)
      ? Array.from({ length: PLANE / BLOCK }, (_, place) => place * BLOCK)
      : [0, PLANE - BLOCK];
    for (const offset of blocks) {
      const isUniform = offset === 0 && blocks.length === 2;
      addRuns(plane * PLANE + offset, runs, ranges, isUniform ? PLANE - BLOCK : BLOCK);
    }
  }
  return ranges;
}

/** Adds the ranges of a block. All characters up to `size` are like the block's. */
function addRuns(start: number, runs: RegExp, ranges: Range[], size: number): void {
  const width = start < PLANE ? 1 : 2;
  for (const { 0: run, index } of textOf(start).matchAll(runs)) {
    const lo = start + index / width;
    const length = run.length / width;
    addRange(ranges, lo, lo + (length === BLOCK ? size : length) - 1);
  }
}

function addRange(ranges: Range[], lo: number, hi: number): void {
  const last = ranges.at(-1);
  if (last?.[1] === lo - 1) ranges[ranges.length - 1] = [last[0], hi];
  else ranges.push([lo, hi]);
}

/** The code points of a block. Halves of surrogate pairs are in blocks of their own. */
function textOf(start: number): string {
  const units: number[] = [];
  const high = 0xd800 + ((start - PLANE) >> 10);
  for (let offset = 0; offset < BLOCK; offset++) {
    if (start < PLANE) units.push(start + offset);
    else units.push(high, 0xdc00 + offset);
  }
  return String.fromCharCode(...units);
}

function tableOf(ranges: readonly Range[]): RangeTable {
  return {
    length: ranges.length,
    getLo: (index) => ranges[index]?.[0] ?? 0,
    getHi: (index) => ranges[index]?.[1] ?? 0,
    getStride: () => 1,
  };
}
