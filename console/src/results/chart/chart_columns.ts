import { cellText, type ResultTable, type TableColumn } from "../find_table.ts";
import { readTime } from "./period_times.ts";

/** What a column can be in a chart. */
export interface ChartColumn {
  readonly index: number;
  readonly name: string;
  /**
   * `time` has an order that lines follow, `category` names things, `number` is measured. An `id`
   * only names things if nothing else does, and `other` is not drawn.
   */
  readonly role: "time" | "category" | "id" | "number" | "other";
  /** The number of different values. Missing ones count as one where they are named. */
  readonly distinctCount: number;
}

const ID_NAME =
  /^(?:u?u?id|oid|pid|zip|plz|phone|sku|code)$|_(?:u?u?id|oid|pid|code|no|nr|number|zip|phone)$|[a-z](?:Id|ID)$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const YEAR_NAME = /(?:^|_)(?:year|yr|jahr)(?:$|_)/i;
/** Numbers that count periods, such as the hour of a day. */
const PERIOD_NAME =
  /(?:^|_)(?:month|week|isoweek|day|dow|isodow|doy|hour|minute|quarter)(?:$|_of_|_no$|_num(?:ber)?$)/i;
const MOST_PERIODS = 366;
/** Longer texts describe, and name nothing. */
const MOST_NAME_CHARACTERS = 80;

/** The columns of a table with their roles. */
export function chartColumns(table: ResultTable): ChartColumn[] {
  return table.columns.map((column, index) => {
    const values = table.rows.map((row) => row[index]).filter((value) =>
      value !== null && value !== undefined
    );
    const role = roleOf(column, values, { isFirst: index === 0 });
    const isMissingNamed = (role === "category" || role === "id") &&
      values.length < table.rows.length;
    const distinctCount = new Set(values.map(cellText)).size + (isMissingNamed ? 1 : 0);
    return { index, name: column.name, role, distinctCount };
  });
}

function roleOf(
  { name, kind }: TableColumn,
  values: readonly unknown[],
  { isFirst }: { readonly isFirst: boolean },
): ChartColumn["role"] {
  if (values.length === 0 || kind === "json") return "other";
  if (kind === "boolean") return "category";
  if (kind === "number") {
    if (isPeriodNumber(name, values.map(Number), isFirst)) return "time";
    return ID_NAME.test(name) ? "id" : "number";
  }
  const texts = values.map(cellText);
  if (texts.every((text) => readTime(text) !== null)) return "time";
  if (texts.every((text) => UUID.test(text))) return "id";
  return texts.every((text) => text.length <= MOST_NAME_CHARACTERS) ? "category" : "other";
}

/** Whether numbers are years or parts of one, by their name or because they look like years. */
function isPeriodNumber(name: string, numbers: readonly number[], isFirst: boolean): boolean {
  if (!numbers.every(Number.isInteger)) return false;
  const areYears = numbers.every((number) => number >= 1900 && number <= 2100);
  if (YEAR_NAME.test(name)) return areYears;
  if (PERIOD_NAME.test(name)) return numbers.every((one) => one >= 0 && one <= MOST_PERIODS);
  const isInOrder = numbers.every((number, at) => at === 0 || number >= (numbers[at - 1] ?? 0));
  return isFirst && areYears && isInOrder && numbers.length > 1 && numbers[0] !== numbers.at(-1);
}
