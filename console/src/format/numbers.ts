const COUNT = new Intl.NumberFormat("en");
const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 6 });
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });
const MICRO = 1_000_000;

/** Formats a whole number with separators; an unknown value is a dash. */
export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? "–" : COUNT.format(count);
}

/** Formats a number with separators and up to six digits after the point. */
export function formatNumber(amount: number | null | undefined): string {
  return amount === null || amount === undefined ? "–" : NUMBER.format(amount);
}

/** Formats a large number for a narrow column, such as `12.3K`. */
export function formatCompact(count: number | null | undefined): string {
  return count === null || count === undefined ? "–" : COMPACT.format(count);
}

/** Formats a share between 0 and 1. */
export function formatShare(share: number | null | undefined): string {
  return share === null || share === undefined ? "–" : PERCENT.format(share);
}

/** Formats millionths of a US dollar, with enough digits for small amounts. */
export function formatCost(microUsd: number | null | undefined): string {
  if (microUsd === null || microUsd === undefined) return "–";
  const usd = microUsd / MICRO;
  const digits = usd === 0 || Math.abs(usd) >= 1 ? 2 : Math.abs(usd) >= 0.01 ? 4 : 6;
  return new Intl.NumberFormat("en", {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(usd);
}

const SHORT_COST = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  notation: "compact",
  maximumSignificantDigits: 3,
});

/** Formats millionths of a US dollar with three digits, for a narrow column. */
export function formatShortCost(microUsd: number | null | undefined): string {
  return microUsd === null || microUsd === undefined ? "–" : SHORT_COST.format(microUsd / MICRO);
}

/** Formats a duration in at most two units. */
export function formatDuration(durationMs: number | null | undefined): string {
  return inUnits(durationMs, { ms: " ms", s: " s", min: " min", h: " h", d: " d" });
}

/** The same for a narrow column, such as `3m 11s`. */
export function formatShortDuration(durationMs: number | null | undefined): string {
  return inUnits(durationMs, { ms: "ms", s: "s", min: "m", h: "h", d: "d" });
}

type TimeUnits = Readonly<Record<"ms" | "s" | "min" | "h" | "d", string>>;

function inUnits(durationMs: number | null | undefined, { ms, s, min, h, d }: TimeUnits): string {
  if (durationMs === null || durationMs === undefined || !Number.isFinite(durationMs)) return "–";
  if (durationMs < 1_000) return `${Math.max(0, Math.floor(durationMs))}${ms}`;
  const seconds = durationMs / 1_000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.floor(seconds)}${s}`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}${min} ${Math.floor(seconds % 60)}${s}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}${h} ${minutes % 60}${min}`;
  return `${Math.floor(hours / 24)}${d} ${hours % 24}${h}`;
}

/** Formats a size in bytes with binary units. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = bytes / 1_024;
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/**
 * The two ends of an ID. The beginning is the time, which jobs of one minute share; the end
 * distinguishes them. The job list finds IDs in this form.
 */
export function shortId(id: string | null | undefined): string {
  return id ? `${id.slice(0, 8)}…${id.slice(-4)}` : "–";
}

/** The beginning of a commit's hash, as Git shows it. */
export function shortCommit(hash: string | null | undefined): string {
  return hash?.slice(0, 8) ?? "–";
}
