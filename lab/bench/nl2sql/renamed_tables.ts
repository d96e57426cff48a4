import type { LinkableTable } from "../../../shared/servers/sql/linking/linkable_table.ts";
import { withInferredKeys } from "../../../shared/servers/sql/linking/to_linkable.ts";
import { seededRandom } from "../../../scripts/seeded_random.ts";

/** Words that are common in all schemas. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  ("id name date time type status year month day count created updated at amount number code key " +
    "description uid cid mid url city country state address email phone is has").split(" "),
);

/** Words of other domains, in addition to those of the schemas. */
const OTHER_WORDS =
  ("invoice shipment warehouse vehicle driver route ticket patient doctor visit claim policy " +
    "vendor contract employee department salary project milestone asset device sensor reading " +
    "alert campaign lead contact quote order item product category cart payment refund ledger " +
    "budget forecast survey answer event venue artist album track playlist movie actor flight " +
    "airport airline passenger booking room hotel guest league team player match season score crop " +
    "farm field harvest plant species habitat mission planet star mineral recipe ingredient menu " +
    "chef bill tenant lease property unit building permit inspection case court judge lawyer " +
    "hearing verdict book library member loan shelf").split(" ");

/**
 * Returns the tables, followed by copies of their schemas up to `count` tables. In a copy, every
 * word except common ones is replaced by a word of other domains or of the schemas themselves, so
 * that copies use the words of questions in other places.
 */
export function withRenamedCopies(
  schemas: readonly (readonly LinkableTable[])[],
  count: number,
  seed: number,
): LinkableTable[] {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new RangeError("Cannot pick an item: the list is empty");
    return item;
  };
  const own = schemas.flat().flatMap((table) =>
    [table.name, ...table.columns.map(({ name }) => name)].flatMap(wordsIn)
  );
  const pool = [...new Set([...own, ...OTHER_WORDS])].filter((word) => !COMMON_WORDS.has(word));
  const tables = schemas.flat().map(withoutKeys);
  for (let copy = 2; tables.length < count; copy++) {
    const names = new Map<string, string>();
    const rename = (name: string) =>
      wordsIn(name).map((word) => {
        if (COMMON_WORDS.has(word)) return word;
        const renamed = names.get(word) ?? pick(pool);
        names.set(word, renamed);
        return renamed;
      }).join("_");
    for (const table of pick(schemas)) {
      if (tables.length >= count) break;
      tables.push({
        ...withoutKeys(table),
        schema: `${table.schema}_${copy}`,
        name: rename(table.name),
        columns: table.columns.map((column) => ({ ...column, name: rename(column.name) })),
        primaryKey: table.primaryKey.map(rename),
      });
    }
  }
  return withInferredKeys(tables);
}

/**
 * Removes keys, which are positions in one schema's list. They are inferred again for the long
 * list.
 */
function withoutKeys(table: LinkableTable): LinkableTable {
  return { ...table, foreignKeys: [] };
}

function wordsIn(name: string): string[] {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().split("_");
}
