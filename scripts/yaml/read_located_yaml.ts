import type { ValueProblem } from "../../shared/engine/definitions/definition.ts";
import { CommandError } from "../cli/run_command.ts";
import type { YamlModule } from "../deps.ts";
import { parseYamlDocument, type YamlLimits } from "./parse_yaml.ts";

/** A problem at a line, counted from 1. */
export interface LineProblem {
  readonly line: number;
  readonly message: string;
}

/** A file that has problems. */
export class YamlFileError extends CommandError {
  constructor(readonly fileName: string, readonly problems: readonly LineProblem[]) {
    const lines = [...problems].sort((a, b) => a.line - b.line)
      .map(({ line, message }) => `${fileName}:${line}: ${message}`);
    super(lines.join("\n"));
  }
}

/** A YAML text whose values can be found again, or what is wrong with it. */
export type LocatedYaml =
  | { readonly kind: "read"; readonly value: unknown; readonly lineOf: LineOf }
  | { readonly kind: "invalid"; readonly problems: readonly LineProblem[] };

/**
 * The line of the key or item at the end of a path, or of its nearest existing parent; 1 for the
 * root.
 */
export type LineOf = (path: readonly PropertyKey[]) => number;

/** A file that people write, whose YAML can be read. */
export interface YamlFile {
  readonly value: unknown;
  readonly lineOf: LineOf;
  /** The error for problems of its values. */
  problems(found: readonly ValueProblem[]): YamlFileError;
}

/**
 * Reads the text of a file that people write.
 *
 * @throws YamlFileError with each problem of its syntax and its line.
 */
export function readYamlFile(
  text: string,
  fileName: string,
  yaml: YamlModule,
  limits: YamlLimits = {},
): YamlFile {
  const located = readLocatedYaml(text, yaml, limits);
  if (located.kind === "invalid") throw new YamlFileError(fileName, located.problems);
  const { value, lineOf } = located;
  const problems = (found: readonly ValueProblem[]) =>
    new YamlFileError(
      fileName,
      found.map(({ at = [], message }) => ({ line: lineOf(at), message })),
    );
  return { value, lineOf, problems };
}

/** Reads one YAML document. Never throws. */
export function readLocatedYaml(
  text: string,
  yaml: YamlModule,
  limits: YamlLimits = {},
): LocatedYaml {
  const { isMap, isSeq, isNode } = yaml;
  const { document, problems, lineAt } = parseYamlDocument(text, yaml, limits);
  if (problems.length > 0) return { kind: "invalid", problems };
  try {
    return { kind: "read", value: document.toJS(), lineOf };
  } catch (error) {
    // The parser throws for aliases that expand to an implausible size.
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "invalid", problems: [{ line: 1, message }] };
  }

  function lineOf(path: readonly PropertyKey[]): number {
    let line = 1;
    let at: unknown = document.contents;
    for (const step of path) {
      const pair = isMap(at) ? at.items.find(({ key }) => String(key) === String(step)) : undefined;
      const next: unknown = isSeq(at) ? at.items[Number(step)] : pair?.value;
      const placed = pair?.key ?? next;
      if (!isNode(placed) || !placed.range) break;
      line = lineAt(placed.range[0]);
      at = next;
    }
    return line;
  }
}
