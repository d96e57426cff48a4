import { z } from "../../shared/vendor/zod.js";
import type { ToolOutcome } from "./scripted_agent.ts";

const digestSchema = z.object({
  path: z.string(),
  title: z.string(),
  headings: z.array(z.string()),
  words: z.number(),
  first_sentence: z.string(),
});

const problemSchema = z.object({ problem: z.string() });
const subtaskSchema = z.object({ status: z.string(), output: z.unknown(), error: z.unknown() })
  .partial({ output: true, error: true });

/** The result for one file: a digest, or the problem. */
export interface FileReading {
  readonly path: string;
  readonly digest: z.infer<typeof digestSchema> | null;
  readonly problem: string;
}

/** Parses a reader's answer from the result of its handoff. */
export function toReading({ call, text, json }: ToolOutcome): FileReading {
  const path = String(JSON.parse(call.argumentsText).input?.path);
  const subtask = subtaskSchema.safeParse(json).data;
  const digest = digestSchema.safeParse(subtask?.output).data;
  if (digest !== undefined) return { path, digest, problem: "" };
  const problem = problemSchema.safeParse(subtask?.output).data?.problem ??
    (subtask?.error === undefined ? text : JSON.stringify(subtask.error));
  return { path, digest: null, problem: problem.slice(0, 500) };
}

/** Writes one line per document. */
export function writeOutline(readings: readonly FileReading[]): string[] {
  return readings.map(({ path, digest }) =>
    digest === null
      ? `${path}: could not be read`
      : `${digest.title}: ${digest.words} words, ${digest.headings.length} headings`
  );
}

/** Writes the report as Markdown, in the format of the skill `report-writing`. */
export function writeReport(
  { folder, readings, comments }: {
    readonly folder: string;
    readonly readings: readonly FileReading[];
    readonly comments: string;
  },
): string {
  const readable = readings.filter(({ digest }) => digest !== null).length;
  const words = comments === "" ? "without a comment" : `with the words: "${comments}"`;
  return [
    `# Report: ${folder}`,
    `${readable} of ${readings.length} documents were read. What follows says what each is about, ` +
    "how long it is, and where to look.",
    ...readings.map(writeSection),
    "## Review",
    `A person approved the outline ${words}.`,
  ].join("\n\n") + "\n";
}

function writeSection({ path, digest, problem }: FileReading): string {
  if (digest === null) return `## ${path}\n\nThis document could not be read: ${problem}`;
  const { title, first_sentence, words, headings } = digest;
  const contents = headings.map((heading) => `- ${heading}`).join("\n");
  const section = `## ${title}\n\n${first_sentence} (${words} words, \`${path}\`)`;
  return contents === "" ? section : `${section}\n\n${contents}`;
}
