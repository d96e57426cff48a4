import { withoutEmpty } from "../../../shared/platform/values/without_empty.ts";
import type { JsonValue } from "../../../shared/platform/values/json.ts";
import { described, OperationArguments } from "./operation_arguments.ts";
import { type Part, partOf, resolved, textOf } from "./openapi_parts.ts";
import { type SecretChoices, securityOf } from "./openapi_security.ts";
import { BODYLESS, operationBody } from "./operation_body.ts";
import type { Operation } from "./openapi_operations.ts";
import { SchemaReader } from "./schema_reader.ts";
import { checkableSchema, type HttpToolFile, toolDescription } from "./tool_file.ts";
import { MAX_SCHEMA_CHARACTERS } from "../../../shared/models/tool_schemas/max_schema_characters.ts";

/** A tool made from an operation, or why it cannot be one. */
export type OperationTool =
  | { readonly kind: "tool"; readonly file: HttpToolFile; readonly notes: readonly string[] }
  | { readonly kind: "refused"; readonly problem: string };

/** What the user chose for all operations. */
export interface ToolChoices extends SecretChoices {
  /** The server's address, with its path. */
  readonly server: string;
}

/** From all of a schema to little of it, until it is small enough. */
const LIMITS = [
  { maxDepth: 40, maxDescription: 500 },
  { maxDepth: 40, maxDescription: 0 },
  { maxDepth: 6, maxDescription: 0 },
  { maxDepth: 3, maxDescription: 0 },
] as const;
/** Headers that the platform sets. */
const SET_HEADERS = ["accept", "content-type", "authorization"];
const IN_PATH = /\{([^{}]+)\}/g;

/** Makes an HTTP tool of an operation of an OpenAPI document. */
export function operationTool(
  document: Part,
  operation: Operation,
  choices: ToolChoices,
): OperationTool {
  for (const limits of LIMITS) {
    const tool = build(document, operation, choices, new SchemaReader(document, limits));
    if (tool.kind === "refused") return tool;
    const size = JSON.stringify(tool.file.config.parameters).length;
    if (size <= MAX_SCHEMA_CHARACTERS) return tool;
  }
  return { kind: "refused", problem: "its schema is too large" };
}

function build(
  document: Part,
  { method, path, parameters: declared, part }: Operation,
  choices: ToolChoices,
  reader: SchemaReader,
): OperationTool {
  const args = new OperationArguments();
  const query: Record<string, string> = {};
  const headers: Record<string, string> = {};
  const places = new Map<string, string>();
  const notes: string[] = [];
  for (const parameter of declared) {
    const name = textOf(parameter.name);
    const place = textOf(parameter.in).toLowerCase();
    if (place === "body" || place === "formdata") continue;
    if (place === "cookie" || place === "header" && SET_HEADERS.includes(name.toLowerCase())) {
      if (place === "cookie") notes.push(`the cookie ${name} is left out`);
      continue;
    }
    if (!["path", "query", "header"].includes(place) || name === "") {
      notes.push(`a parameter without a name or place is left out`);
      continue;
    }
    if (place === "path" && !path.includes(`{${name}}`)) {
      notes.push(`the path has no place for the parameter ${name}, which is left out`);
      continue;
    }
    for (const member of queryMembers(document, parameter, name, place)) {
      const schema = described(
        parameterSchema(reader, member.parameter),
        reader.shortened(member.description),
      );
      const isRequired = place === "path" || parameter.required === true;
      const argument = args.add(member.name, schema, { isRequired, place });
      if (place === "path") places.set(name, argument);
      else if (place === "query") query[member.name] = `{${argument}}`;
      else headers[member.name] = `{${argument}}`;
    }
  }
  const filledPath = path.replace(IN_PATH, (_, name: string) => {
    if (!places.has(name)) {
      notes.push(`the path's parameter ${name} is not declared; it is a text`);
      places.set(name, args.add(name, { type: "string" }, { isRequired: true, place: "path" }));
    }
    return `{${places.get(name)}}`;
  });
  const body = operationBody(document, { method, part, parameters: declared }, { args, reader });
  if (body.kind === "refused") return body;
  const { secret, notes: securityNotes } = securityOf(document, part, choices);
  const { schema: parameters, leftOut } = checkableSchema(args.schema(reader.defs));
  const config = {
    method,
    url: joined(choices.server, filledPath),
    parameters,
    ...withoutEmpty({
      query,
      headers: { ...headers, ...body.kind === "body" ? body.headers : {} },
      body: body.kind === "body" ? body.template : undefined,
      auth: secret?.auth,
      read_only: BODYLESS.includes(method),
    }),
  };
  return {
    kind: "tool",
    file: {
      type: "http_api",
      description: toolDescription(
        part.deprecated === true ? "Deprecated" : "",
        textOf(part.summary) || `${method} ${path}`,
        textOf(part.description),
      ),
      config,
      ...secret === null ? {} : { credential: { secret: secret.secret, type: secret.type } },
    },
    notes: [
      ...notes,
      ...securityNotes,
      ...reader.notes,
      ...leftOut.map((at) => `${at} cannot be checked and is left out`),
    ],
  };
}

interface QueryMember {
  readonly name: string;
  readonly parameter: Part;
  readonly description: string;
}

/** A parameter is one member of the request; an object with the style deepObject is several. */
function queryMembers(document: Part, parameter: Part, name: string, place: string): QueryMember[] {
  const description = textOf(parameter.description);
  const schema = resolved(document, parameter.schema);
  const properties = Object.entries(partOf(schema.properties));
  if (place !== "query" || textOf(parameter.style) !== "deepObject" || properties.length === 0) {
    return [{ name, parameter, description }];
  }
  return properties.map(([key, property]) => ({
    name: `${name}[${key}]`,
    parameter: { schema: property },
    description: textOf(partOf(property).description),
  }));
}

function parameterSchema(reader: SchemaReader, parameter: Part): JsonValue {
  const content = Object.values(partOf(parameter.content)).map(partOf)[0];
  const written = parameter.schema ?? content?.schema;
  // Before version 3, the parameter itself is the schema.
  const { name: _name, in: _in, required: _required, ...inline } = parameter;
  const schema = reader.read(
    written ?? (parameter.type === undefined ? { type: "string" } : inline),
  );
  const isCommaList = textOf(parameter.collectionFormat) === "csv" || parameter.explode === false ||
    written === undefined && parameter.type === "array" && parameter.collectionFormat !== "multi";
  if (!isCommaList || partOf(schema).type !== "array") return schema;
  return { type: "string", description: "Values, separated by commas." };
}

function joined(server: string, path: string): string {
  return `${server.replace(/\/+$/, "")}/${path.replace(/^\/+/, "")}`;
}
