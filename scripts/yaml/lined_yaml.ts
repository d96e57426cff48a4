import { CommandError } from "../cli/run_command.ts";
import type { YamlDocument, YamlModule } from "../deps.ts";

/** Maximum size of a file; people do not write larger ones. */
const MAX_FILE_CHARACTERS = 1024 * 1024;

/** A problem at a position in a file. */
export interface LineProblem {
  /** Counted from 1. */
  readonly line: number;
  readonly message: string;
}

/** A YAML file that is not valid; the message has a line for each problem. */
export class YamlFileError extends CommandError {
  constructor(readonly fileName: string, readonly problems: readonly LineProblem[]) {
    const lines = [...problems].sort((a, b) => a.line - b.line)
      .map(({ line, message }) => `${fileName}:${line}: ${message}`);
    super(lines.join("\n"));
  }
}

/** The value of a YAML file, and where its parts are. */
export interface LinedYaml {
  readonly value: unknown;
  /** The line of what is at the end of the path, or of its nearest existing parent. */
  lineOf(path: readonly PropertyKey[]): number;
}

/**
 * Parses the text of a YAML file.
 *
 * @throws YamlFileError with each problem of syntax and its line.
 */
export function readLinedYaml(
  text: string,
  fileName: string,
  { parseDocument, LineCounter, isMap, isNode, isSeq }: YamlModule,
): LinedYaml {
  if (text.length > MAX_FILE_CHARACTERS) {
    throw new YamlFileError(fileName, [{ line: 1, message: "is larger than a file of this kind" }]);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const syntax = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    line: lines.linePos(pos[0]).line,
    message: message.split("\n", 1)[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? "",
  }));
  if (syntax.length > 0) throw new YamlFileError(fileName, syntax);

  return {
    value: plainValue(document, fileName),
    lineOf: (path) => {
      let line = 1;
      let at: unknown = document.contents;
      for (const step of path) {
        const pair = isMap(at)
          ? at.items.find(({ key }) => String(key) === String(step))
          : { key: isSeq(at) ? at.items[Number(step)] : undefined };
        if (pair === undefined || !isNode(pair.key) || !pair.key.range) break;
        line = lines.linePos(pair.key.range[0]).line;
        at = "value" in pair ? pair.value : pair.key;
      }
      return line;
    },
  };
}

function plainValue(document: YamlDocument, fileName: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // The parser throws for aliases that expand to an implausible size.
    const message = error instanceof Error ? error.message : String(error);
    throw new YamlFileError(fileName, [{ line: 1, message }]);
  }
}
