import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";

/** A worst case by name, for a size of about that many characters. */
type WorstTexts = Readonly<Record<string, (characters: number) => string>>;

/** The members and items that a request may have, a few less for the envelope around a value. */
const MEMBERS = 19_900;
const ITEMS = 49_900;

const fill = (part: string) => (characters: number) =>
  part.repeat(Math.floor(characters / part.length));

/** Parts with a number, joined until the text is full. */
const numbered = (partOf: (number: number) => string, separator = "") => (characters: number) => {
  const parts: string[] = [];
  for (let length = 0, number = 0; length < characters; number++) {
    const part = partOf(number);
    length += part.length + separator.length;
    if (length <= characters) parts.push(part);
  }
  return parts.join(separator);
};

const between = (start: string, middle: (characters: number) => string, end = "") =>
(
  characters: number,
) => `${start}${middle(Math.max(0, characters - start.length - end.length))}${end}`;

const nested = (open: string, close: string, levels: number) => (characters: number) => {
  const count = Math.min(levels, Math.floor(characters / (open.length + close.length)));
  return open.repeat(count) + close.repeat(count);
};

/** Texts of one repeated part: what a pattern or a scanner may read again and again. */
export const PLAIN_TEXTS: WorstTexts = {
  "one letter": fill("a"),
  "spaces": fill(" "),
  "words": fill("very "),
  "distinct words": numbered((number) => `w${number} `),
  "questions": fill("Is it? "),
  "quotes": fill('"'),
  "apostrophes": fill("'"),
  "half an address": fill("a@"),
  "backslashes": fill("\\"),
  "wide letters": fill("é𝒳"),
};

/** Texts that can be read as rows, or nearly so. */
export const TABLES: WorstTexts = {
  "equal names": fill("a,"),
  "equal names with numbers": numbered((number) => number % 2 === 0 ? "a" : `a_${number}`, ","),
  "distinct names": numbered((number) => `k${number}`, ","),
  "many names over many lines": (characters) =>
    `${fill("a,")(characters / 4)}\n${fill("1\n")(characters * 3 / 4)}`,
  "many lines": fill("a,1\n"),
  "open quotes": fill('"a,'),
  "documents with other keys": (characters) =>
    `[${numbered((number) => `{"k${number}":1}`, ",")(Math.min(characters, MEMBERS * 13))}]`,
  "documents with equal keys": (characters) =>
    `[${fill('{"a":1,"b":"x"},')(Math.min(characters, MEMBERS * 8))}{"a":1}]`,
  "a wide document": (characters) =>
    `{${numbered((number) => `"k${number}":1`, ",")(Math.min(characters, MEMBERS * 9))}}`,
  "equal columns": (characters) =>
    `{"columns":["a"${fill(',"a"')(Math.min(characters, ITEMS * 4) - 30)}],"rows":[[1]]}`,
  "columns over rows": (characters) =>
    `{"columns":["a"${fill(',"a"')(Math.min(characters, ITEMS * 2) - 30)}],"rows":[[1]${
      fill(",[1]")(Math.min(characters, ITEMS))
    }]}`,
  "brackets": nested("[", "]", 60),
};

const STATEMENTS: WorstTexts = {
  "forbidden functions": between("select ", numbered((number) => `f${number}()`, ",")),
  "one forbidden function": between("select ", fill("pg_read_fil(),"), "1"),
  "forbidden functions of a schema": between(
    "select ",
    numbered((number) => `x.f${number}()`, ","),
  ),
  "unknown schemas": between("select 1 from ", numbered((number) => `s${number}.t`, ",")),
  "columns": between("select ", numbered((number) => `c${number}`, ",")),
  "constants": between("select ", fill("1,"), "1"),
  "a list of values": between("select 1 in (", fill("1,"), "1)"),
  "conditions": between("select 1 where a", fill(" or a")),
  "parentheses": (characters) => `select ${nested("(", ")", 20_000)(characters)}`,
  "operators": between("select 1", fill("+1")),
  "casts": between("select 1", fill("::int")),
  "settings": between(
    "select ",
    numbered((number) => `current_setting('s${number}')`, ","),
  ),
  "comments": fill("/**/"),
  "open comments": fill("/*"),
  "statements": fill("select 1;"),
  "dollar quotes": numbered((number) => `$a${number}$`),
  "tables": between("select 1 from ", numbered((number) => `t${number}`, ",")),
};

const MARKDOWN: WorstTexts = {
  "lines": fill("\n"),
  "headings": fill("## a\n"),
  "quotes in lines": fill("> "),
  "lists": fill("- "),
  "links": fill("[a]("),
  "emphasis": fill("*a_ "),
  "backticks": fill("`"),
  "fences": fill("```\n"),
  "tags": fill("<a "),
  "untrusted tags": fill("<untrusted_data "),
  "front matter": between("---\n", fill("a: &a [*a]\n"), "---\n"),
  "anchors": between("---\n", numbered((number) => `a${number}: &a${number} [*a0]\n`), "---\n"),
  "keys": between("---\n", numbered((number) => `k${number}: 1\n`), "---\n"),
  "flow lists": between("---\n", fill("["), "\n---\n"),
};

/** Texts that could be slow for one of the parsers, all of about the same length. */
export const WORST_TEXTS: WorstTexts = { ...PLAIN_TEXTS, ...TABLES, ...STATEMENTS, ...MARKDOWN };

const many = <T>(count: number, itemOf: (number: number) => T): T[] =>
  Array.from({ length: count }, (_, number) => itemOf(number));
const record = (names: readonly string[], value: JsonValue): JsonObject =>
  Object.fromEntries(names.map((name) => [name, value]));
const names = (count: number, prefix: string) => many(count, (number) => `${prefix}${number}`);

/** Lists of records, at the limits of a request, with the columns of {@linkcode WIDE_TABLE}. */
export function worstRecords(maxItems: number): Readonly<Record<string, JsonValue>> {
  const rows = Math.min(maxItems, MEMBERS);
  const perRow = Math.floor(MEMBERS / rows);
  return {
    "every record another key": many(rows, (number) => ({ [`k${number}`]: 1 })),
    "every record several other keys": many(
      rows,
      (number) => record(names(perRow, `r${number}k`), 1),
    ),
    "every value wrong": many(rows, () => record(names(perRow, "c"), "not a number")),
    "every enum wrong": many(rows, () => ({ mood: "wrng", mood2: "wrong mood" })),
    "spelled otherwise": many(rows, (number) => ({ [`C ${number % 1_500}`]: 1 })),
    "empty records": many(rows, () => ({})),
    "long values": many(rows, () => ({ c0: "9".repeat(Math.floor(900_000 / rows)) })),
    "long texts": many(rows, () => ({ note: "é".repeat(Math.floor(400_000 / rows)) })),
    "records that are no objects": many(rows, () => 1),
    "nested records": many(rows, () => ({ c0: { a: { b: 1 } } })),
  };
}

/** Values of any type at the limits of a request. Made once: that takes as long as several calls. */
export const WORST_VALUES: Readonly<Record<string, JsonValue>> = {
  "many members": record(names(MEMBERS, "k"), 1),
  "members with similar names": record(names(MEMBERS, "agent_id_"), "x"),
  "many items": many(ITEMS, () => 1),
  "many lists": many(ITEMS, () => []),
  "many objects": many(ITEMS, () => ({})),
  "deep lists": JSON.parse("[".repeat(60) + "]".repeat(60)),
  "deep objects": JSON.parse('{"a":'.repeat(60) + "1" + "}".repeat(60)),
  "a long number": 10 ** 300,
  "a long text": "a@".repeat(450_000),
  "long names": record(many(14, (number) => `${number}${"n".repeat(64_000)}`), 1),
};

/** A table with as many columns as PostgreSQL allows, and large enums. */
export const WIDE_TABLE = `
  create type public.wide_mood as enum (${many(500, (number) => `'mood ${number}'`).join()});
  create table public.wide_table (
    note varchar(10), mood public.wide_mood, mood2 public.wide_mood,
    ${names(1_500, "c").map((name) => `${name} bigint`).join()}
  );
  ${
  names(300, "c").map((name) =>
    `comment on column public.wide_table.${name} is 'The ${name} (synonyms: first ${name}, ${name} too)';`
  ).join("\n")
}
  alter table public.wide_table enable row level security;
  create policy everyone on public.wide_table to authenticated using (true) with check (true);
  grant select, insert on public.wide_table to authenticated;
`;

const columns = (count: number, column: string) => many(count, () => column).join();
const rows = (count: number) => `from generate_series(1, ${count})`;

/** Reads with results that could be slow to encode: more rows than an answer or a file may have. */
export const WORST_READS: Readonly<Record<string, string>> = {
  "columns with one name": `select ${columns(1_600, "1")}`,
  "rows of empty columns": `select ${columns(1_600, "null")} ${rows(20_000)}`,
  "rows of wide columns": `select ${columns(300, "1.5")} ${rows(20_000)}`,
  "many rows": `select 1 ${rows(110_000)}`,
  "long texts": `select repeat('=', 500000) ${rows(100)}`,
  "formulas": `select '=a' ${rows(110_000)}`,
  "wide documents": `select (select jsonb_object_agg(n, n) from generate_series(1, 20000) as n) ${
    rows(20)
  }`,
  "deep documents": `select (repeat('[', 3000) || repeat(']', 3000))::jsonb ${rows(100)}`,
};
