import { CommandError } from "../../cli/run_command.ts";
import type { YamlForms } from "../agents/import_agents.ts";
import type { ImportedFile, ImportPlan, RefusedPart } from "../import_plan.ts";
import { nameToSlug } from "../../../shared/platform/values/name_to_slug.ts";
import { freeSlug } from "../free_slug.ts";
import { isNamed, type Operation, operationName, operationsOf } from "./openapi_operations.ts";
import type { Part } from "./openapi_parts.ts";
import { operationTool } from "./operation_tool.ts";
import type { ProjectSecrets } from "./project_secrets.ts";
import { serverUrl } from "./server_url.ts";
import { toolText } from "./tool_file.ts";

/** What the user chose. */
export interface OpenApiChoices {
  /** The file or address of the document. */
  readonly source: string;
  /** Ids, or methods with paths, with `*` for any text. Undefined: all. */
  readonly operations: string | undefined;
  readonly server: string | undefined;
  readonly secret: string | undefined;
  /** Those that the project has. */
  readonly secrets: ProjectSecrets;
}

/** More tools than this are a choice of the user, not of a default. */
const MAX_OPERATIONS = 100;

/**
 * Makes HTTP tools of the chosen operations of a document. An operation that cannot be a tool does
 * not keep out the others.
 *
 * @throws CommandError if a pattern names no operation, or there are too many
 */
export function importOpenApi(
  document: Part,
  choices: OpenApiChoices,
  forms: YamlForms,
): ImportPlan {
  const files: ImportedFile[] = [];
  const refused: RefusedPart[] = [];
  const slugs = new Set<string>();
  for (const operation of chosenOperations(document, choices)) {
    const at = operationName(operation);
    const server = serverUrl(document, operation, choices);
    if (server.kind === "unknown") {
      refused.push({ at, problem: server.problem });
      continue;
    }
    const { host } = new URL(server.url);
    const tool = operationTool(document, operation, {
      server: server.url,
      host,
      secretName: choices.secret,
    });
    if (tool.kind === "refused") {
      refused.push({ at, problem: tool.problem });
      continue;
    }
    const { credential } = tool.file;
    const secretProblem = credential === undefined
      ? null
      : choices.secrets.problemOf(credential.secret, host, choices.secret !== undefined);
    if (secretProblem !== null) {
      refused.push({ at, problem: secretProblem });
      continue;
    }
    const slug = freeSlug(slugOf(operation), slugs);
    const { text, problem } = toolText(slug, tool.file, forms);
    if (problem === null) {
      if (credential !== undefined) choices.secrets.add(credential.secret, host);
      const notes = credential === undefined
        ? tool.notes
        : [`needs the secret ${credential.secret}`, ...tool.notes];
      files.push({ path: `tools/${slug}.yaml`, source: at, text, leftOut: [], notes });
    } else refused.push({ at, problem });
  }
  return { files, refused, ignored: [] };
}

function chosenOperations(document: Part, { operations: chosen, source }: OpenApiChoices) {
  const all = operationsOf(document);
  const patterns = (chosen ?? "*").split(",").filter((pattern) => pattern.trim() !== "");
  const wrong = patterns.filter((pattern) => !all.some((one) => isNamed(one, pattern)));
  const names = all.slice(0, 20).map(operationName).join(", ");
  if (wrong.length > 0 && all.length > 0) {
    throw new CommandError(
      `Cannot import ${wrong.join(", ")}: ${source} has no such operation. It has ${names}` +
        (all.length > 20 ? `, and ${all.length - 20} more` : ""),
    );
  }
  const operations = all.filter((one) => patterns.some((pattern) => isNamed(one, pattern)));
  if (operations.length <= MAX_OPERATIONS) return operations;
  throw new CommandError(
    `Cannot import ${operations.length} operations: choose at most ${MAX_OPERATIONS} with ` +
      `--operations, such as ${operationName(all[0] as Operation)}; * stands for any text`,
  );
}

/** The id in the form of a slug, or the method and the path. */
function slugOf({ id, method, path }: Operation): string {
  const words = id.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replaceAll(/[_.]+/g, "-");
  return nameToSlug(words) || nameToSlug(`${method}-${path}`) || "operation";
}
