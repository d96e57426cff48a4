/** A fault that somebody could write into a SQL function. */
export interface SqlMutant {
  /** The function of schema `private`. */
  readonly sqlFunction: string;
  /** Every occurrence of this text in it … */
  readonly text: string;
  /** … becomes this. */
  readonly replacement: string;
  /** What the engine then does wrong. */
  readonly breaks: string;
  /** Folders of `supabase/tests/` that are about it. @default the function's own */
  readonly pgtap?: readonly string[];
  /** Test files on native Postgres that are about it, mostly races. @default none */
  readonly tests?: readonly string[];
  /** Why no check can see it, for one that changes nothing that anybody could notice. */
  readonly isEquivalent?: string;
}

/** A fault that somebody could write into a TypeScript file. */
export interface SourceMutant {
  readonly file: string;
  /** This text, which the file has once … */
  readonly text: string;
  /** … becomes this. */
  readonly replacement: string;
  readonly breaks: string;
  /** Test files that are about it. */
  readonly tests: readonly string[];
  readonly isEquivalent?: string;
}

export type Mutant = SqlMutant | SourceMutant;

/** The name of a mutant, for people and for `--only`. */
export function nameOf(mutant: Mutant): string {
  const place = "sqlFunction" in mutant
    ? mutant.sqlFunction
    : mutant.file.split("/").at(-1)?.replace(/\.ts$/, "");
  return `${place}: ${mutant.breaks}`;
}
