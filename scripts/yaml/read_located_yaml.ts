import { yamlProblem } from "../../shared/engine/definitions/read_yaml_file.ts";
import type { ValueProblem } from "../../shared/engine/definitions/definition.ts";
import { CommandError } from "../cli/run_command.ts";
import type { YamlModule } from "../deps.ts";

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

/** Maximum size of a file; people do not write larger ones. */
const MAX_FILE_CHARACTERS = 1024 * 1024;

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
export function readYamlFile(text: string, fileName: string, yaml: YamlModule): YamlFile {
  if (text.length > MAX_FILE_CHARACTERS) {
    throw new YamlFileError(fileName, [{ line: 1, message: "is larger than a file of this kind" }]);
  }
  const located = readLocatedYaml(text, yaml);
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
  { parseDocument, LineCounter, isMap, isSeq, isNode }: YamlModule,
): LocatedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problems = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    line: lines.linePos(pos[0]).line,
    message: yamlProblem(message),
  }));
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
      line = lines.linePos(placed.range[0]).line;
      at = next;
    }
    return line;
  }
}
