import { time } from "./virtual_globals.ts";

/** What happened in a world, as lines to read. */
export class Trace {
  readonly #beganMs = time.ms;
  readonly #lines: { readonly atMs: number; readonly who: string; readonly text: string }[] = [];

  add(who: string, text: string): void {
    this.#lines.push({ atMs: time.ms - this.#beganMs, who, text });
  }

  /** @param names Readable names by id. */
  render(names: ReadonlyMap<string, string>): string[] {
    return this.#lines.map(({ atMs, who, text }) => {
      const seconds = (atMs / 1_000).toFixed(3).padStart(9);
      return `${seconds} s  ${who.padEnd(10)} ${withNames(text, names)}`;
    });
  }
}

/** Replaces ids by names. */
export function withNames(text: string, names: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    (id) => names.get(id) ?? id.slice(0, 8),
  );
}
