/**
 * The largest operands of each type, as columns of a table with one row: a value of a megabyte,
 * one of ten kilobytes and a short one. Texts that search, match or trim another text have the
 * contents with which that takes longest.
 */
export const OPERANDS_TABLE = `
  create table public.operands (id int primary key);
  insert into public.operands values (1);
`;

/** How long an operand is. */
export type Size = "large" | "medium" | "short";
export const SIZES: readonly Size[] = ["large", "medium", "short"];

/** Expressions with \`n\`, about the length of the value in bytes, and other roles of the same type. */
interface OperandType {
  readonly first: string;
  /** Other large contents of the first operand, each for another algorithm. */
  readonly alsoFirst?: readonly string[];
  /** The operand when it is not the first one. @default `[first]` */
  readonly others?: readonly string[];
  /** The type of the column that stores it. @default the same type */
  readonly storedAs?: string;
  /** Lengths, where the type cannot hold a megabyte. */
  readonly lengths?: Readonly<Partial<Record<Size, number>>>;
}

const NEEDLES = [
  "'b' || repeat('a', n)",
  "'%' || repeat('a', n) || 'b'",
  "repeat('b', n) || 'a'",
  "'(a|a?)*' || left(repeat('a?', n), 2000) || 'b'",
];
/** What the parser of words looks ahead in, and marks that normalization sorts. */
const TEXTS = ["repeat('a.', n / 2)", "repeat(U&'\\0301', n / 4) || repeat(U&'\\0316', n / 4)"];
const POINTS = (open: string, close: string, offset: string) =>
  `(select '${open}' || string_agg(format('(%s,%s)', g, g + ${offset}), ',' order by g) || '${close}' ` +
  "from generate_series(1, n / 30 + 2) as g)";
const LENGTHS: Readonly<Record<Size, number>> = { large: 1_000_000, medium: 10_000, short: 10 };

const NUMBERS = "(select %(g order by g) from generate_series(1, n / 6 + 1) as g)";
const NEGATIVE_NUMBERS = "(select %(-g order by g) from generate_series(1, n / 6 + 1) as g)";
const WORDS =
  "(select string_agg('w' || g, '%' order by g) from generate_series(1, n / 8 + 1) as g)";

/** Types whose values can be long. */
const LONG_TYPES: Readonly<Record<string, OperandType>> = {
  text: { first: "repeat('a', n)", alsoFirst: TEXTS, others: NEEDLES },
  varchar: { first: "repeat('a', n)", others: NEEDLES },
  bpchar: { first: "repeat('a', n)", others: NEEDLES },
  bytea: {
    first: "convert_to(repeat('a', n), 'UTF8')",
    others: NEEDLES.slice(0, 3).map((text) => `convert_to(${text}, 'UTF8')`),
  },
  varbit: {
    first: "repeat('1', n)::varbit",
    others: ["('0' || repeat('1', n))::varbit"],
  },
  json: {
    first: NUMBERS.replace("%", "json_agg"),
    others: [NEGATIVE_NUMBERS.replace("%", "json_agg")],
  },
  jsonb: {
    first: NUMBERS.replace("%", "jsonb_agg"),
    others: [NUMBERS.replace("%", "jsonb_agg"), NEGATIVE_NUMBERS.replace("%", "jsonb_agg")],
  },
  _int4: {
    first: NUMBERS.replace("%", "array_agg"),
    others: [NUMBERS.replace("%", "array_agg"), NEGATIVE_NUMBERS.replace("%", "array_agg")],
  },
  _text: {
    first: NUMBERS.replace("%(g", "array_agg(g::text"),
    others: [NEGATIVE_NUMBERS.replace("%(-g", "array_agg((-g)::text")],
  },
  numeric: {
    first: "(repeat('7', n)::numeric)",
    others: ["(repeat('3', n / 2) || '1')::numeric", "(repeat('3', n / 2) || '.1')::numeric"],
    lengths: { large: 120_000, medium: 2_000, short: 3 },
  },
  tsvector: {
    first: `to_tsvector('simple', ${WORDS.replace("%", " ")})`,
    lengths: { large: 500_000 },
  },
  tsquery: {
    first: WORDS.replace("%", " & "),
    others: [WORDS.replace("%", " & "), WORDS.replace("%", " | ")],
    storedAs: "text",
    lengths: { large: 100_000 },
  },
  path: {
    first: `${POINTS("[", "]", "0")}::path`,
    others: [`${POINTS("[", "]", "0.5")}::path`],
  },
  polygon: {
    first: `${POINTS("(", ")", "0")}::polygon`,
    others: [`${POINTS("(", ")", "0.5")}::polygon`],
  },
  int4multirange: {
    first:
      "(select range_agg(int4range(2 * g, 2 * g + 1)) from generate_series(1, n / 12 + 1) as g)",
  },
};

/** Values of types that are always short. */
const SHORT_TYPES: Readonly<Record<string, string>> = {
  bool: "true",
  box: "'((0,0),(1,1))'::box",
  char: "'a'::\"char\"",
  date: "'2026-01-01'::date",
  float4: "1.5::float4",
  float8: "1.5::float8",
  inet: "'10.0.0.1/8'::inet",
  cidr: "'10.0.0.0/8'::cidr",
  int2: "3::int2",
  int4: "3",
  int4range: "'[1,9)'::int4range",
  int8: "3::int8",
  interval: "'1 day'::interval",
  jsonpath: "'$.** ? (@ > 1)'::jsonpath",
  money: "1::money",
  name: "'a'::name",
  oid: "1::oid",
  regconfig: "'simple'::regconfig",
  time: "'10:00'::time",
  timestamp: "'2026-01-01'::timestamp",
  timestamptz: "'2026-01-01'::timestamptz",
  uuid: "'00000000-0000-0000-0000-000000000000'::uuid",
};

/** Types that stand for others. */
const STANDS_FOR: Readonly<Record<string, string>> = {
  any: "text",
  anyarray: "_int4",
  anycompatible: "int4",
  anycompatiblearray: "_int4",
  anycompatiblenonarray: "int4",
  anyelement: "int4",
  anymultirange: "int4multirange",
  anynonarray: "text",
  anyrange: "int4range",
  bit: "varbit",
};

/** Column of an operand. */
function column(type: string, place: number, size: Size): string {
  return `${type.replace(/^_/, "list_")}_${place}_${size}`;
}

/** Statements that create and fill the columns. */
export function operandColumns(): string[] {
  return Object.entries(LONG_TYPES).flatMap(([type, operand]) => {
    const { first, others = [first], alsoFirst = [], lengths, storedAs = type } = operand;
    return (SIZES.flatMap((size) =>
      [first, ...others, ...alsoFirst].flatMap((expression, place) => {
        const name = column(type, place, size);
        const length = lengths?.[size] ?? LENGTHS[size];
        const isPadded = type === "varchar" || type === "bpchar";
        return [
          `alter table public.operands add column ${name} ${storedAs}`,
          ...(isPadded || type.endsWith("range") ? [] : [
            `alter table public.operands alter column ${name} set storage ${
              type === "numeric" ? "main" : "external"
            }`,
          ]),
          `update public.operands set ${name} = ${expression.replaceAll(/\bn\b/g, String(length))}`,
        ];
      })
    ));
  });
}

/** The operands of each combination to try; none if no operand can be long. */
export function operandLists(types: readonly string[]): string[][] {
  const known = types.map((type) => STANDS_FOR[type] ?? type);
  const isLong = known.map((type) => Object.hasOwn(LONG_TYPES, type));
  if (!isLong.includes(true)) return [];
  if (known.some((type, index) => !isLong[index] && SHORT_TYPES[type] === undefined)) return [];
  const firstLong = isLong.indexOf(true);
  const shapes: ((index: number) => Size)[] = [
    () => "large",
    () => "medium",
    (index) => index === firstLong ? "large" : "short",
    (index) => index === firstLong ? "short" : "large",
  ];
  const lists = shapes.flatMap((sizeAt) =>
    Array.from({ length: NEEDLES.length }, (_, variant) =>
      known.map((type, index) => {
        const long = LONG_TYPES[type];
        if (long === undefined) return SHORT_TYPES[type] ?? "null";
        const count = long.others?.length ?? 1;
        const name = column(type, index === firstLong ? 0 : 1 + variant % count, sizeAt(index));
        return long.storedAs === undefined ? name : `${name}::${type}`;
      }))
  );
  const [type = ""] = known.slice(firstLong);
  const { others = [""], alsoFirst = [] } = LONG_TYPES[type] ?? {};
  for (const place of alsoFirst.keys()) {
    lists.push((lists[0] ?? []).with(firstLong, column(type, 1 + others.length + place, "large")));
  }
  return [...new Map(lists.map((list) => [list.join(), list])).values()];
}
