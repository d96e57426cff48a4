import type { YamlModule } from "../deps.ts";
import type { LineProblem } from "./read_located_yaml.ts";

/** Maximum size of a text: the parser needs some seconds for the worst text of this size. */
const MAX_CHARACTERS = 256 * 1024;

/** The limits of a kind of file. */
export interface YamlLimits {
  /** @default 256 KiB */
  readonly maxCharacters?: number;
}

/** A document as it was parsed, and the problems by which it cannot be used. */
export interface YamlDocument {
  readonly document: ReturnType<YamlModule["parseDocument"]>;
  readonly problems: readonly LineProblem[];
  /** The line of an offset, counted from 1. */
  readonly lineAt: (offset: number) => number;
}

/**
 * Parses one document in a time that grows with its size: the parser's own excerpts and its search
 * for repeated keys take quadratic time.
 */
export function parseYamlDocument(
  text: string,
  yaml: YamlModule,
  { maxCharacters = MAX_CHARACTERS }: YamlLimits = {},
): YamlDocument {
  const lines = new yaml.LineCounter();
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  const isTooLarge = text.length > maxCharacters;
  const document = yaml.parseDocument(isTooLarge ? "" : text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    merge: true,
  });
  const problems = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    line: lineAt(pos[0]),
    message,
  }));
  if (isTooLarge) {
    problems.push({ line: 1, message: `it is larger than ${maxCharacters} characters` });
  }
  if (problems.length === 0) problems.push(...repeatedKeys(document, yaml, lineAt));
  return { document, problems, lineAt };
}

/** A parser of plain data that throws the first problem. */
export function yamlParser(yaml: YamlModule): (text: string) => unknown {
  return (text) => {
    const { document, problems: [problem] } = parseYamlDocument(text, yaml);
    if (problem !== undefined) throw new Error(problem.message);
    return document.toJS();
  };
}

function repeatedKeys(
  document: YamlDocument["document"],
  yaml: YamlModule,
  lineAt: YamlDocument["lineAt"],
): LineProblem[] {
  const problems: LineProblem[] = [];
  yaml.visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>();
      for (const { key } of items) {
        if (!yaml.isScalar(key) || String(key.value) === "<<") continue;
        const name = JSON.stringify(key.value);
        if (seen.has(name)) {
          const message = `Map keys must be unique: ${name} appears twice`;
          problems.push({ line: lineAt(key.range?.[0] ?? 0), message });
        }
        seen.add(name);
      }
    },
  });
  return problems;
}
