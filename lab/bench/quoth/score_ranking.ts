import type { LineRange } from "../../../shared/servers/quoth/list_sections.ts";

/** A hit of any kind of search. */
export interface RankedHit {
  readonly file: string;
  readonly startLine: number;
  readonly endLine: number;
}

/** The expected results of a query. */
export interface Judgment {
  readonly files: ReadonlySet<string>;
  /** Files that are excluded because the query is from them. */
  readonly excluded: ReadonlySet<string>;
  /** Lines of the expected section; null when whole documents are expected. */
  readonly section: { readonly file: string; readonly range: LineRange } | null;
}

/** Scores of one ranking, each from 0 to 1. */
export interface RankingScore {
  readonly ndcgAt10: number;
  readonly mrrAt10: number;
  readonly recallAt5: number;
  /** Null when no section is expected. */
  readonly sectionHitAt5: number | null;
}

/** Scores hits, best first: by file, counting its first hit, and by section. */
export function scoreRanking(hits: readonly RankedHit[], judgment: Judgment): RankingScore {
  const { files: wanted, excluded, section } = judgment;
  const kept = hits.filter(({ file }) => !excluded.has(file));
  const files = [...new Set(kept.map(({ file }) => file))];
  const gains = files.slice(0, 10).map((file) => wanted.has(file) ? 1 : 0);
  const ideal = sum(Array.from({ length: Math.min(10, wanted.size) }, (_, at) => discount(at)));
  const first = gains.indexOf(1);
  return {
    ndcgAt10: sum(gains.map((gain, at) => gain * discount(at))) / ideal,
    mrrAt10: first < 0 ? 0 : 1 / (first + 1),
    recallAt5: files.slice(0, 5).filter((file) => wanted.has(file)).length / wanted.size,
    sectionHitAt5: section === null ? null : Number(
      kept.slice(0, 5).some((hit) =>
        hit.file === section.file && hit.startLine <= section.range.endLine &&
        hit.endLine >= section.range.startLine
      ),
    ),
  };
}

/** Returns the mean of numbers, or 0 for an empty list. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}

function discount(at: number): number {
  return 1 / Math.log2(at + 2);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
