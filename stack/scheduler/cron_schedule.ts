/** When a job is due. */
export type CronSchedule =
  /** Every `seconds` seconds. */
  | { readonly kind: "interval"; readonly seconds: number }
  /** Once at each start of the scheduler. */
  | { readonly kind: "start" }
  /** In the minutes that match all five fields. */
  | {
    readonly kind: "fields";
    readonly minutes: ReadonlySet<number>;
    readonly hours: ReadonlySet<number>;
    readonly daysOfMonth: ReadonlySet<number>;
    /** Whether `daysOfMonth` includes the last day of each month. */
    readonly isLastDayOfMonth: boolean;
    readonly months: ReadonlySet<number>;
    /** 0 is Sunday. */
    readonly daysOfWeek: ReadonlySet<number>;
    /** Whether a match of one day field is enough: neither of them starts with `*`. */
    readonly isEitherDay: boolean;
  };

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAYS = "sun mon tue wed thu fri sat".split(" ");
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** February 29 occurs at least once in eight years. */
const SEARCH_LIMIT_DAYS = 8 * 366;
const LENGTH_LIMIT = 1_000;

const NAMED_SCHEDULES: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/**
 * Parses a schedule of pg_cron: `[1-59] seconds`, a name such as `@hourly`, or five cron fields.
 * Returns null for any other text.
 *
 * Like pg_cron, it ignores text after a complete item or after the fifth field. The SQL of the
 * stack's `pg_cron` extension validates schedules by the same rules.
 */
export function parseCronSchedule(text: string): CronSchedule | null {
  const interval = /^\s*\+?0*([1-9]|[1-5][0-9])\s*seconds?\s*$/i.exec(text);
  if (interval !== null) return { kind: "interval", seconds: Number(interval[1]) };
  if (text.length >= LENGTH_LIMIT) return null;
  // Skip leading blank lines and comments. Only the first other line counts.
  const [line = ""] = text.replace(/^([ \t]*(#[^\n]*)?\n)*[ \t]*/, "").split("\n");
  const fields = line.split(/[ \t]+/);
  const [name = ""] = fields;
  if (name === "@reboot" || name === "@restart") return { kind: "start" };
  if (name.startsWith("@")) {
    const named = NAMED_SCHEDULES[name];
    return named === undefined ? null : parseFields(named.split(" "));
  }
  return parseFields(fields);
}

function parseFields(fields: readonly string[]): CronSchedule | null {
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = fields;
  const isLastDayOfMonth = dayOfMonth === "$";
  const minutes = parseField(minute, { lowest: 0, highest: 59 });
  const hours = parseField(hour, { lowest: 0, highest: 23 });
  const daysOfMonth = isLastDayOfMonth
    ? new Set<number>()
    : parseField(dayOfMonth, { lowest: 1, highest: 31 });
  const months = parseField(month, { lowest: 1, highest: 12, names: MONTHS });
  const daysOfWeek = parseField(dayOfWeek, { lowest: 0, highest: 7, names: DAYS });
  if (!minutes || !hours || !daysOfMonth || !months || !daysOfWeek) return null;
  if (daysOfWeek.has(7)) daysOfWeek.add(0);
  const isEitherDay = !dayOfMonth.startsWith("*") && !dayOfWeek.startsWith("*");
  return {
    kind: "fields",
    minutes,
    hours,
    daysOfMonth,
    isLastDayOfMonth,
    months,
    daysOfWeek,
    isEitherDay,
  };
}

/**
 * Returns the first time after `after` (milliseconds since 1970, GMT) at which the schedule is due.
 * Returns null when there is none, as for February 30 or a reversed range.
 */
export function nextRunAt(schedule: CronSchedule, after: number): number | null {
  if (schedule.kind === "start") return null;
  if (schedule.kind === "interval") return after + schedule.seconds * 1000;
  if (schedule.minutes.size === 0 || schedule.hours.size === 0) return null;
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
  const isMonthDay = schedule.daysOfMonth.has(date.getUTCDate()) ||
    (schedule.isLastDayOfMonth && new Date(date.getTime() + DAY_MS).getUTCDate() === 1);
  const isWeekDay = schedule.daysOfWeek.has(date.getUTCDay());
  return schedule.isEitherDay ? isMonthDay || isWeekDay : isMonthDay && isWeekDay;
}

/** The values that a field accepts. `names[0]` stands for `lowest`. */
interface FieldRange {
  readonly lowest: number;
  readonly highest: number;
  readonly names?: readonly string[];
}

/** `*`, a value or a range, where `*` and a range may have a step; then any other text. */
const ITEM = /^(?:(\*)|([a-z0-9]+)(?:(-)([a-z0-9]*))?)(?:(\/)([a-z0-9]*))?(.*)$/i;

/** Parses a list of items. A reversed range is valid and has no values. */
function parseField(field: string, range: FieldRange): Set<number> | null {
  const values = new Set<number>();
  for (let rest: string | undefined = field; rest !== undefined;) {
    const match = ITEM.exec(rest);
    if (match === null) return null;
    const [, star, from = "", dash, to = "", slash, stepText = "", after = ""] = match;
    const first = star ? range.lowest : parseValue(from, range);
    const last = star ? range.highest : dash ? parseValue(to, range) : first;
    const step = slash ? parseValue(stepText, { lowest: 1, highest: range.highest }) : 1;
    const isStepOfOneValue = slash !== undefined && !star && !dash;
    if (first === null || last === null || step === null || isStepOfOneValue) return null;
    for (let value = first; value <= last; value += step) values.add(value);
    rest = after.startsWith(",") ? after.slice(1) : undefined;
  }
  return values;
}

function parseValue(text: string, { lowest, highest, names = [] }: FieldRange): number | null {
  const index = names.indexOf(text.toLowerCase());
  const value = index >= 0 ? index + lowest : /^\d+$/.test(text) ? Number(text) : NaN;
  return value >= lowest && value <= highest ? value : null;
}
