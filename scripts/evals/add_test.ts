import type { JobTest } from "../../shared/engine/evals/test_of_job.ts";
import { CommandError } from "../cli/run_command.ts";
import type { YamlModule } from "../deps.ts";
import type { EvalsFile } from "./evals_file_schema.ts";
import { readEvalsFile } from "./read_evals_file.ts";

/**
 * Adds a test at the end of a file's text. Keeps comments and order.
 *
 * @param text Empty for a new file.
 * @throws CommandError when the file has a test of this name; YamlFileError when it is not valid.
 */
export function addTest(
  text: string,
  fileName: string,
  test: EvalsFile["tests"][number] | JobTest,
  yaml: YamlModule,
): string {
  const isNew = text.trim() === "";
  if (!isNew && readEvalsFile(text, fileName, yaml).some(({ name }) => name === test.description)) {
    throw new CommandError(
      `Cannot add "${test.description}": ${fileName} has a test of this name. Pass another with --name`,
    );
  }
  const document = yaml.parseDocument(isNew ? "tests: []\n" : text);
  document.addIn(["tests"], document.createNode(test));
  const tests = document.get("tests");
  // An empty `[]` would keep the flow style.
  if (yaml.isSeq(tests)) tests.flow = false;
  const written = document.toString({ lineWidth: 0 });
  readEvalsFile(written, fileName, yaml);
  return written;
}
