/** The first line of what a YAML parser throws, without the position, which counts from another line. */
export function yamlProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n", 1)[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? "";
}
