import type { JsonObject } from "../../platform/values/json.ts";

/** One file of a skill's folder. */
export interface SkillFile {
  /** Relative to the folder, with forward slashes. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A skill in the registry's form. */
export interface ParsedSkill {
  readonly skillId: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** The body of `SKILL.md`. */
  readonly instructions: string;
  /** Text files by relative path. */
  readonly resources: Readonly<Record<string, string>>;
  /**
   * Other front matter, unchanged; `scripts`, which can be read but never run; `not_imported`,
   * files that are not text or too large.
   */
  readonly metadata: JsonObject;
}
