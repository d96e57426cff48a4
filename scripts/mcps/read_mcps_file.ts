import type { z } from "../../shared/vendor/zod.js";
import { nearestNames } from "../../shared/platform/values/nearest_names.ts";
import { CommandError } from "../cli/run_command.ts";
import type { YamlDocument, YamlModule } from "../deps.ts";
import { knownKeysAt, type McpEntry, mcpsFileSchema } from "./mcps_file_schema.ts";

/** Maximum size of the file; a larger one is not a list of servers. */
const MAX_FILE_CHARACTERS = 1024 * 1024;

/** An entry, with the lines at which its problems are reported. */
export interface ReadEntry {
  readonly slug: string;
  readonly entry: McpEntry;
  /** Counted from 1. */
  readonly line: number;
  /** Line of a key of `credentials`. */
  credentialLine(key: string): number;
}

/** A problem at a position in the file. */
export interface FileProblem {
  readonly line: number;
  readonly message: string;
}

/** The entries of a file that may contain problems. */
export class McpsFileError extends CommandError {
  constructor(readonly fileName: string, readonly problems: readonly FileProblem[]) {
    const lines = [...problems].sort((a, b) => a.line - b.line)
      .map(({ line, message }) => `${fileName}:${line}: ${message}`);
    super(lines.join("\n"));
  }
}

/**
 * Reads the text of an `external-mcps.yaml`. A file with any problem is rejected as a whole.
 *
 * @throws McpsFileError with every problem and its line.
 */
export function readMcpsFile(
  text: string,
  fileName: string,
  { parseDocument, LineCounter, isMap, isNode }: YamlModule,
): readonly ReadEntry[] {
  if (text.length > MAX_FILE_CHARACTERS) {
    throw new McpsFileError(fileName, [{ line: 1, message: "is larger than a list of servers" }]);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const syntax = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    line: lines.linePos(pos[0]).line,
    message: message.split("\n", 1)[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? "",
  }));
  if (syntax.length > 0) throw new McpsFileError(fileName, syntax);

  const parsed = mcpsFileSchema.safeParse(plainValue(document, fileName));
  if (!parsed.success) throw new McpsFileError(fileName, parsed.error.issues.flatMap(problemsOf));
  return Object.entries(parsed.data.mcps).map(([slug, entry]) => ({
    slug,
    entry,
    line: lineOf(["mcps", slug]),
    credentialLine: (key) => lineOf(["mcps", slug, "credentials", key]),
  }));

  function problemsOf(issue: z.core.$ZodIssue): FileProblem[] {
    const path = issue.path;
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        line: lineOf([...path, key]),
        message: `${nameOf([...path, key])}: unknown key${didYouMean(key, path)}`,
      }));
    }
    const message = issue.code === "invalid_key"
      ? issue.issues[0]?.message ?? issue.message
      : issue.message;
    return [{ line: lineOf(path), message: `${nameOf(path)}: ${message}` }];
  }

  /** The line of the key at the end of the path, or of its nearest existing parent. */
  function lineOf(path: readonly PropertyKey[]): number {
    let line = 1;
    let at: unknown = document.contents;
    for (const step of path) {
      if (!isMap(at)) break;
      const pair = at.items.find(({ key }) => String(key) === String(step));
      if (pair === undefined || !isNode(pair.key) || !pair.key.range) break;
      line = lines.linePos(pair.key.range[0]).line;
      at = pair.value;
    }
    return line;
  }
}

function plainValue(document: YamlDocument, fileName: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // The parser throws for aliases that expand to an implausible size.
    const message = error instanceof Error ? error.message : String(error);
    throw new McpsFileError(fileName, [{ line: 1, message }]);
  }
}

function nameOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "the file" : path.map(String).join(".");
}

function didYouMean(key: string, path: readonly PropertyKey[]): string {
  const known = knownKeysAt(path);
  const [nearest] = nearestNames(key, known, 1);
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  return known.length === 0 ? "" : `; there are: ${known.join(", ")}`;
}
