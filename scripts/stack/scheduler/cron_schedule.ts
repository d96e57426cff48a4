/** When a job is due: every so many seconds, or at the minutes that all five fields allow. */
export type CronSchedule =
  | { readonly kind: "interval"; readonly seconds: number }
  | {
    readonly kind: "fields";
    readonly minutes: ReadonlySet<number>;
    readonly hours: ReadonlySet<number>;
    readonly daysOfMonth: ReadonlySet<number>;
    readonly months: ReadonlySet<number>;
    /** 0 is Sunday. */
    readonly daysOfWeek: ReadonlySet<number>;
    /** A day matches when either day field does, unless one of them starts with `*`. */
    readonly isEitherDay: boolean;
  };

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAYS = "sun mon tue wed thu fri sat".split(" ");
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The 29th of February comes at least once in eight years. */
const SEARCH_LIMIT_DAYS = 8 * 366;

/** Reads a schedule of pg_cron: `[1-59] seconds`, or five cron fields; null when it is neither. */
export function parseCronSchedule(text: string): CronSchedule | null {
  const interval = /^\s*([1-9]|[1-5][0-9])\s+seconds?\s*$/i.exec(text);
  if (interval !== null) return { kind: "interval", seconds: Number(interval[1]) };
  const fields = text.trim().split(/\s+/);
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = fields;
  const minutes = parseField(minute, { lowest: 0, highest: 59 });
  const hours = parseField(hour, { lowest: 0, highest: 23 });
  const daysOfMonth = parseField(dayOfMonth, { lowest: 1, highest: 31 });
  const months = parseField(month, { lowest: 1, highest: 12, names: MONTHS });
  const daysOfWeek = parseField(dayOfWeek, { lowest: 0, highest: 7, names: DAYS });
  if (fields.length !== 5 || !minutes || !hours || !daysOfMonth || !months || !daysOfWeek) {
    return null;
  }
  if (daysOfWeek.has(7)) daysOfWeek.add(0);
  const isEitherDay = !dayOfMonth.startsWith("*") && !dayOfWeek.startsWith("*");
  return { kind: "fields", minutes, hours, daysOfMonth, months, daysOfWeek, isEitherDay };
}

/**
 * The first moment after `after` (milliseconds since 1970, GMT) at which the schedule is due;
 * null when there is none, as for the 30th of February.
 */
export function nextRunAt(schedule: CronSchedule, after: number): number | null {
  if (schedule.kind === "interval") return after + schedule.seconds * 1000;
  const first = Math.floor(after / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  for (let day = 0; day < SEARCH_LIMIT_DAYS; day++) {
    const midnight = Math.floor(first / DAY_MS) * DAY_MS + day * DAY_MS;
    if (!isDay(schedule, new Date(midnight))) continue;
    for (let at = Math.max(first, midnight); at < midnight + DAY_MS; at += MINUTE_MS) {
      const moment = new Date(at);
      if (
        schedule.hours.has(moment.getUTCHours()) && schedule.minutes.has(moment.getUTCMinutes())
      ) {
        return at;
      }
    }
  }
  return null;
}

function isDay(schedule: CronSchedule & { kind: "fields" }, date: Date): boolean {
  if (!schedule.months.has(date.getUTCMonth() + 1)) return false;
  const isMonthDay = schedule.daysOfMonth.has(date.getUTCDate());
  const isWeekDay = schedule.daysOfWeek.has(date.getUTCDay());
  return schedule.isEitherDay ? isMonthDay || isWeekDay : isMonthDay && isWeekDay;
}

/** What a field may hold; `names[0]` stands for `lowest`. */
interface FieldRange {
  readonly lowest: number;
  readonly highest: number;
  readonly names?: readonly string[];
}

/** A list of `*`, values and ranges, each with an optional step. */
function parseField(field: string, range: FieldRange): Set<number> | null {
  const values = new Set<number>();
  for (const item of field.split(",")) {
    const match = /^(\*|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/.exec(item);
    if (match === null) return null;
    const [, , from, to, stepText] = match;
    const step = Number(stepText ?? 1);
    const first = from === undefined ? range.lowest : parseValue(from, range);
    // A single value with a step runs to the end of the range, as in cron.
    const single = stepText === undefined ? first : range.highest;
    const last = from === undefined
      ? range.highest
      : to === undefined
      ? single
      : parseValue(to, range);
    if (first === null || last === null || step === 0 || first > last) return null;
    for (let value = first; value <= last; value += step) values.add(value);
  }
  return values;
}

function parseValue(text: string, { lowest, highest, names = [] }: FieldRange): number | null {
  const index = names.indexOf(text.toLowerCase());
  const value = index >= 0 ? index + lowest : /^\d{1,2}$/.test(text) ? Number(text) : NaN;
  return value >= lowest && value <= highest ? value : null;
}
