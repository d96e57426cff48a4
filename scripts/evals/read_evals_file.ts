import { readValue } from "../../shared/engine/definitions/read_yaml_file.ts";
import { isJsonObject, type JsonObject } from "../../shared/platform/values/json.ts";
import type { YamlModule } from "../deps.ts";
import { readYamlFile } from "../yaml/read_located_yaml.ts";
import { type Assertion, type EvalsFile, evalsFileSchema } from "./evals_file_schema.ts";

/** Maximum size of a file; tests that were taken from jobs have whole inputs. */
const MAX_FILE_CHARACTERS = 1024 * 1024;

/** A test of an agent, with what the file's defaults add. */
export interface EvalTest {
  readonly name: string;
  readonly input: string | JsonObject;
  readonly assertions: readonly Assertion[];
  /** Lowest score that passes; null if every assertion must pass. */
  readonly threshold: number | null;
  /** Number of jobs. */
  readonly repeatCount: number;
  /** Slug of the agent that judges. */
  readonly judge: string | null;
}

/**
 * Reads the text of an `agents/<slug>.evals.yaml`.
 *
 * @throws YamlFileError with each problem and its line.
 */
export function readEvalsFile(
  text: string,
  fileName: string,
  yaml: YamlModule,
): readonly EvalTest[] {
  const { value, problems: failure } = readYamlFile(text, fileName, yaml, {
    maxCharacters: MAX_FILE_CHARACTERS,
  });
  const file = readValue(value ?? {}, evalsFileSchema);
  if (file.kind === "invalid") throw failure(file.problems);
  const tests = file.value.tests.map((test) => withDefaults(test, file.value));
  const problems = tests.flatMap((test, index) =>
    problemsOf(test, tests.slice(0, index)).map((message) => ({
      at: ["tests", index],
      message: `tests.${index}: ${message}`,
    }))
  );
  if (problems.length > 0) throw failure(problems);
  return tests;
}

function withDefaults(test: EvalsFile["tests"][number], file: EvalsFile): EvalTest {
  const { defaultTest = {}, repeat = 1 } = file;
  const options = { ...defaultTest.options, ...test.options };
  return {
    name: test.description,
    input: isJsonObject(test.vars) && isJsonObject(defaultTest.vars)
      ? { ...defaultTest.vars, ...test.vars }
      : test.vars ?? defaultTest.vars ?? "",
    assertions: [...defaultTest.assert ?? [], ...test.assert ?? []],
    threshold: test.threshold ?? defaultTest.threshold ?? null,
    repeatCount: options.repeat ?? repeat,
    judge: options.provider ?? null,
  };
}

function problemsOf({ name, input, assertions, judge }: EvalTest, before: readonly EvalTest[]) {
  const isUnjudged = judge === null &&
    assertions.some((one) => one.type === "llm-rubric" && one.provider === undefined);
  return [
    ...before.some((other) => other.name === name)
      ? [`another test has the description "${name}"; runs are compared by it`]
      : [],
    ...input === "" ? ["vars are missing: they are the job's input"] : [],
    ...assertions.length === 0 ? ["assert is missing: a test has to check something"] : [],
    ...isUnjudged ? ["llm-rubric needs options.provider, the slug of the agent that judges"] : [],
  ];
}
