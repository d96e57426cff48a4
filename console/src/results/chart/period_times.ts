/** Names of months, in order. */
const MONTHS = [
  ...["january", "february", "march", "april", "may", "june"],
  ...["july", "august", "september", "october", "november", "december"],
];
const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const DAY_MS = 86_400_000;
/** A year for names without one; it only orders them. */
const ANY_YEAR = 2001;

/** A point in time as databases write it. Its zone, if any, is the last group. */
const MOMENT =
  /^(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?)?$/i;
const QUARTER = /^(?:(\d{4})[- ]?q([1-4])|q([1-4])(?:[- /]?(\d{4}))?)$/;
const WEEK = /^(\d{4})-?w(\d\d?)$/;
const NAMED = /^(?:(\d{4})[- ])?([a-z]{3,9})\.?(?:[- ](\d{4}))?$/;

/** A point or period of time that a text names. */
export interface NamedTime {
  /** In milliseconds, as UTC; of a period its beginning. */
  readonly atMs: number;
  /** Whether the text is a date or a time, so that distances between them mean something. */
  readonly isMoment: boolean;
  /** Whether it has a time zone and is not midnight in UTC, so that readers expect their own. */
  readonly isLocal: boolean;
}

/** Reads dates, times, months, quarters, weeks, years and weekdays; null for other text. */
export function readTime(text: string): NamedTime | null {
  const moment = MOMENT.exec(text);
  if (moment !== null) return readMoment(moment);
  const name = text.trim().toLowerCase();
  const period = (atMs: number) => ({ atMs, isMoment: false, isLocal: false });
  if (/^(19|20|21)\d\d$/.test(name)) return period(Date.UTC(Number(name), 0));
  const [, year, quarter, other, yearAfter] = QUARTER.exec(name) ?? [];
  if (quarter ?? other) {
    return period(
      Date.UTC(Number(year ?? yearAfter ?? ANY_YEAR), (Number(quarter ?? other) - 1) * 3),
    );
  }
  const [, weekYear, week] = WEEK.exec(name) ?? [];
  if (week !== undefined) return period(Date.UTC(Number(weekYear), 0) + Number(week) * 7 * DAY_MS);
  const [, before, word = "", after] = NAMED.exec(name) ?? [];
  const month = indexIn(MONTHS, word);
  if (month >= 0) return period(Date.UTC(Number(before ?? after ?? ANY_YEAR), month));
  const weekday = before ?? after ? -1 : indexIn(WEEKDAYS, word);
  return weekday < 0 ? null : period(Date.UTC(ANY_YEAR, 0, weekday + 1));
}

function readMoment(found: RegExpExecArray): NamedTime | null {
  const [, year, month, day = "01", hour = "00", minute = "00", second = "00", zone] = found;
  const offset = zone === undefined || /z/i.test(zone)
    ? "Z"
    : `${zone}00`.replace(":", "").slice(0, 5);
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}` +
    (offset === "Z" ? "Z" : `${offset.slice(0, 3)}:${offset.slice(3)}`);
  const atMs = Date.parse(iso);
  if (Number.isNaN(atMs)) return null;
  return { atMs, isMoment: true, isLocal: zone !== undefined && atMs % DAY_MS !== 0 };
}

/** The place of a name, or of its first letters, in a list; -1 if it has none. */
function indexIn(names: readonly string[], word: string): number {
  return names.findIndex((name) => word.length >= 3 && name.startsWith(word));
}
