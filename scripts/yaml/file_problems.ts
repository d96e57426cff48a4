import { YamlFileError } from "./read_located_yaml.ts";

/** The problems of a file for a test, as they are printed; empty when it can be read. */
export function fileProblems(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof YamlFileError) return error.message;
    throw error;
  }
  return "";
}
