import type { JsonValue } from "../../../shared/platform/values/json.ts";
import { listOf, type Part, partOf, resolved, textOf } from "./openapi_parts.ts";
import type { Operation } from "./openapi_operations.ts";
import type { OperationArguments } from "./operation_arguments.ts";
import type { SchemaReader } from "./schema_reader.ts";

/** The body of an operation, by its arguments. */
export type OperationBody =
  | { readonly kind: "none" }
  | {
    readonly kind: "body";
    readonly template: JsonValue;
    readonly headers: Readonly<Record<string, string>>;
  }
  | { readonly kind: "refused"; readonly problem: string };

const JSON_TYPE = /^(application|text)\/([\w.+-]+\+)?json\b|^\*\/\*|^application\/\*/i;
export const FORM_TYPE = "application/x-www-form-urlencoded";
/** Methods that have no body, and change nothing. */
export const BODYLESS: readonly string[] = ["GET", "HEAD"];
/** Schemas of a body that are joined: one may contain itself. */
const MAX_PARTS = 100;
/** Names of those that are left out, in a note. */
const MAX_NAMED = 5;

interface BodyTarget {
  readonly args: OperationArguments;
  readonly reader: SchemaReader;
}

/** Adds the arguments of an operation's body. */
export function operationBody(
  document: Part,
  operation: Pick<Operation, "method" | "part" | "parameters">,
  target: BodyTarget,
): OperationBody {
  const request = bodyOf(document, operation);
  const types = Object.keys(request.content);
  if (types.length === 0) return { kind: "none" };
  const without = (problem: string): OperationBody => {
    if (request.isRequired) return { kind: "refused", problem };
    target.reader.notes.add(`${problem}; it is optional and left out`);
    return { kind: "none" };
  };
  if (BODYLESS.includes(operation.method)) {
    return without(`its body cannot be sent with ${operation.method}`);
  }
  const type = types.find((one) => JSON_TYPE.test(one)) ??
    types.find((one) => one.toLowerCase().startsWith(FORM_TYPE)) ??
    types.find((one) => /^text\/plain/i.test(one));
  if (type === undefined) return without(`its body is ${types.join(" or ")}, not JSON or a form`);
  const { schema } = request.content[type] ?? {};
  const headers = JSON_TYPE.test(type)
    ? jsonHeaders(type)
    : { "content-type": type.split(";", 1)[0]?.trim() ?? type };
  const whole = objectOf(document, schema);
  if (whole !== null && whole.leftOut.length > 0) {
    const names = whole.leftOut.slice(0, MAX_NAMED).join(", ");
    target.reader.notes.add(
      `its body has more than ${MAX_PARTS} schemas in allOf; left out: ${names}` +
        (whole.leftOut.length > MAX_NAMED ? " and more" : ""),
    );
  }
  const isText = /^text\/plain/i.test(type);
  if (whole === null || isText) {
    const { isRequired } = request;
    const name = target.args.add("body", target.reader.read(schema), { isRequired, place: "body" });
    return { kind: "body", template: `{${name}}`, headers };
  }
  const template: Record<string, JsonValue> = {};
  for (const [name, property] of Object.entries(whole.properties)) {
    if (partOf(property).readOnly === true) continue;
    const isRequired = request.isRequired && whole.required.includes(name);
    const argument = target.args.add(name, target.reader.read(property), {
      isRequired,
      place: "body",
    });
    template[name] = `{${argument}}`;
  }
  return { kind: "body", template, headers };
}

/** The content of a body by its media type; before version 3, it is among the parameters. */
function bodyOf(
  document: Part,
  { part, parameters }: Pick<Operation, "part" | "parameters">,
): { readonly content: Readonly<Record<string, Part>>; readonly isRequired: boolean } {
  const request = resolved(document, part.requestBody);
  const content = Object.fromEntries(
    Object.entries(partOf(request.content)).map(([type, media]) => [type, partOf(media)]),
  );
  if (Object.keys(content).length > 0) return { content, isRequired: request.required === true };
  const consumes = listOf(part.consumes ?? document.consumes).map(textOf);
  const body = parameters.find((one) => one.in === "body");
  if (body !== undefined) {
    const type = consumes.find((one) => JSON_TYPE.test(one)) ?? "application/json";
    return { content: { [type]: { schema: body.schema } }, isRequired: body.required === true };
  }
  const fields = parameters.filter((one) => textOf(one.in).toLowerCase() === "formdata");
  if (fields.length === 0) return { content: {}, isRequired: false };
  const hasFile = fields.some(({ type }) => type === "file");
  const schema = {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => {
      const { name, in: _in, required: _required, ...rest } = field;
      return [textOf(name), rest];
    })),
    required: fields.filter(({ required }) => required === true).map(({ name }) => name),
  };
  return {
    content: { [hasFile ? "multipart/form-data" : FORM_TYPE]: { schema } },
    isRequired: true,
  };
}

/** The properties of an object and of all its parts; null for other schemas. */
function objectOf(document: Part, schema: unknown): {
  readonly properties: Part;
  readonly required: readonly string[];
  /** The references of its parts that are not read. */
  readonly leftOut: readonly string[];
} | null {
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  const open: unknown[] = [schema];
  for (let count = 0; count < MAX_PARTS && open.length > 0; count++) {
    const part = resolved(document, open.shift());
    if (part.oneOf !== undefined || part.anyOf !== undefined) return null;
    Object.assign(properties, partOf(part.properties));
    required.push(...listOf(part.required).map(textOf));
    required.push(
      ...Object.entries(partOf(part.properties)).filter(([, one]) => partOf(one).required === true)
        .map(([name]) => name),
    );
    open.push(...listOf(part.allOf));
  }
  if (Object.keys(properties).length === 0) return null;
  const leftOut = [
    ...new Set(open.map((one) => textOf(partOf(one).$ref) || "a schema of its own")),
  ];
  return { properties, required, leftOut };
}

/** The platform's own header says application/json. */
function jsonHeaders(type: string): Record<string, string> {
  const plain = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return plain === "application/json" || plain.includes("*") ? {} : { "content-type": plain };
}
