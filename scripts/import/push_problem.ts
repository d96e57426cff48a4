import { readDefinitions } from "../../shared/engine/definitions/read_definitions.ts";
import type { ParseYaml } from "../../shared/engine/skills/parse_yaml.ts";

/** Why a push would refuse a file; null if it would not. */
export function pushProblem(path: string, text: string, parseYaml: ParseYaml): string | null {
  const bytes = new TextEncoder().encode(text);
  const { problems } = readDefinitions([{ path, bytes }], parseYaml);
  return problems.length === 0 ? null : problems.map(({ message }) => message).join("; ");
}
