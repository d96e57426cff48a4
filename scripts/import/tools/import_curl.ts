import { withoutEmpty } from "../../../shared/platform/values/without_empty.ts";
import type { JsonValue } from "../../../shared/platform/values/json.ts";
import { isJsonObject } from "../../../shared/platform/values/json.ts";
import { nameToSlug } from "../../../shared/platform/values/name_to_slug.ts";
import { CommandError } from "../../cli/run_command.ts";
import type { YamlForms } from "../agents/import_agents.ts";
import type { ImportPlan } from "../import_plan.ts";
import { type CurlRequest, readCurl } from "./curl_command.ts";
import { basicSecret, type ToolSecret } from "./openapi_security.ts";
import { OperationArguments } from "./operation_arguments.ts";
import { FORM_TYPE } from "./operation_body.ts";
import { type ProjectSecrets, secretNameOf } from "./project_secrets.ts";
import { isSecret, isSecretValue, variableOf } from "./secret_values.ts";
import { toolDescription, toolText } from "./tool_file.ts";
import { decoded } from "../../../shared/platform/values/json_pointer.ts";

/** What the user chose. */
export interface CurlChoices {
  /** The slug. */
  readonly name: string | undefined;
  readonly secret: string | undefined;
  /** Those that the project has. */
  readonly secrets: ProjectSecrets;
}

/** Headers that the platform sets, or that say nothing about the request. */
const UNKEPT_HEADERS = [
  ...["host", "content-length", "user-agent", "accept-encoding", "connection", "origin"],
  ...["referer", "accept-language", "cache-control", "pragma"],
];
/** What the platform asks for, too. */
const USUAL_ACCEPT = /^(\*\/\*|application\/json|text\/html\b.*)$/i;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Makes one HTTP tool of a curl command. Values of its query and its body become arguments; what
 * looks like a secret becomes the name of one, and is not written.
 *
 * @throws CommandError if it has no URL, or cannot be a tool
 */
export function importCurl(command: string, choices: CurlChoices, forms: YamlForms): ImportPlan {
  const request = readCurl(command);
  if (request === null) throw new CommandError("Cannot import the curl command: it has no URL");
  if (request.hasParts) {
    throw new CommandError(
      "Cannot import the curl command: it sends a file or a form with parts, which HTTP tools cannot",
    );
  }
  const address = /^[a-z][\w+.-]*:\/\//i.test(request.url) ? request.url : `https://${request.url}`;
  const parts = /^(https?:\/\/)(?:([^/@?#]*)@)?([^/?#]+)([^?#]*)(?:\?([^#]*))?/i.exec(address);
  if (parts === null || /[$<{]/.test(parts[3] ?? "")) {
    throw new CommandError("Cannot import the curl command: its URL has no http(s) host");
  }
  if (!METHODS.includes(request.method)) {
    throw new CommandError(
      `Cannot import the curl command: tools have no method ${request.method}`,
    );
  }
  const [, scheme = "https://", userInfo, given = "", path = "", search = ""] = parts;
  const host = URL.parse(`${scheme}${given}`)?.host;
  if (host === undefined) {
    throw new CommandError(`Cannot import the curl command: ${given} is not a host`);
  }
  const tool = new CurlTool(host, choices.secret);
  const user = request.user ?? userInfo ?? null;
  if (user !== null) tool.takeSecret(basicSecret(tool.secretName(user, "BASIC_AUTH")), "the user");
  const headers = tool.readHeaders(request.headers);
  const url = `${scheme}${host}${tool.readPath(path)}`;
  const query = tool.readQuery(search);
  const body = tool.readBody(request);
  const slug = nameToSlug(
    choices.name ?? [request.method, ...hostWords(host), ...pathWords(path)].join("-"),
  );
  const { secret } = tool;
  const secretProblem = secret === null
    ? null
    : choices.secrets.problemOf(secret.secret, host, choices.secret !== undefined);
  if (secretProblem !== null) {
    throw new CommandError(`Cannot import the curl command: ${secretProblem}`);
  }
  const { text, problem } = toolText(slug, {
    type: "http_api",
    description: toolDescription(`${request.method} ${url}`),
    config: {
      method: request.method,
      url,
      parameters: tool.args.schema({}),
      ...withoutEmpty({
        query,
        headers: { ...headers, ...body.headers },
        body: body.template,
        auth: secret?.auth,
        read_only: request.method === "GET" || request.method === "HEAD",
      }),
    },
    ...secret === null ? {} : { credential: { secret: secret.secret, type: secret.type } },
  }, forms);
  if (problem !== null) throw new CommandError(`Cannot import the curl command: ${problem}`);
  const notes = [
    ...secret === null ? [] : [`needs the secret ${secret.secret}`],
    ...tool.notes,
    "describe the tool in its file: the model chooses it by that",
  ];
  const leftOut = [...request.leftOut, ...tool.leftOut];
  return {
    files: [{ path: `tools/${slug}.yaml`, source: `curl ${url}`, text, leftOut, notes }],
    refused: [],
    ignored: [],
  };
}

class CurlTool {
  readonly args = new OperationArguments();
  readonly notes: string[] = [];
  readonly leftOut: string[] = [];
  secret: ToolSecret | null = null;
  readonly #host: string;
  readonly #secretName: string | undefined;

  constructor(host: string, secretName: string | undefined) {
    this.#host = host;
    this.#secretName = secretName;
  }

  /** The name of a secret: the user's, that of a variable in the command, or one of the host. */
  secretName(value: string, kind: "API_KEY" | "TOKEN" | "BASIC_AUTH"): string {
    const own = variableOf(value.replace(/^\S+\s+/, "")) ?? variableOf(value);
    return this.#secretName ?? own?.replaceAll("-", "_") ?? secretNameOf(this.#host, kind);
  }

  /** Only one secret can be sent; the first is, as curl commands begin with what identifies. */
  takeSecret(secret: ToolSecret, what: string): void {
    if (this.secret !== null) {
      this.leftOut.push(`${what}, because a tool sends only one secret`);
      return;
    }
    this.secret = secret;
    if (secret.note !== null) this.notes.push(secret.note);
  }

  readHeaders(headers: CurlRequest["headers"]): Record<string, string> {
    const kept: Record<string, string> = {};
    const sorted = [...headers].sort(([a], [b]) => rank(a) - rank(b));
    for (const [name, value] of sorted) {
      const plain = name.toLowerCase();
      if (UNKEPT_HEADERS.includes(plain) || plain === "accept" && USUAL_ACCEPT.test(value)) {
        continue;
      }
      if (isSecret(name, value) || variableOf(value) !== null) {
        this.takeSecret(this.#headerSecret(name, value), `the header ${name}`);
      } else if (plain !== "content-type" || !/json/i.test(value)) kept[name] = value;
    }
    return kept;
  }

  #headerSecret(name: string, value: string): ToolSecret {
    const [, scheme = "", rest = value] =
      /^(Bearer|Basic|Token|Digest|[A-Za-z]+)\s+([^]+)$/.exec(value) ??
        [];
    const isBearer = name.toLowerCase() === "authorization" && /^bearer$/i.test(scheme);
    return {
      secret: this.secretName(rest, isBearer ? "TOKEN" : "API_KEY"),
      type: isBearer ? "bearer_token" : "api_key",
      auth: { in: "header", name, ...scheme === "" ? {} : { prefix: `${scheme} ` } },
      note: null,
    };
  }

  /** Variables and ids of the path, such as `$ID`, `{id}`, `:id` and `<id>`, become arguments. */
  readPath(path: string): string {
    return path.split("/").map((segment) => {
      const isHidden = isSecret("", decoded(segment).replace(/^\w+:/, ""));
      const name = variableOf(segment) ?? /^:([A-Za-z_]\w*)$/.exec(segment)?.[1] ??
        (isHidden ? "path_part" : undefined);
      if (isHidden) {
        this.notes.push("a part of the path looks like a secret or an id; it is an argument");
      }
      if (name === undefined || name === null) {
        return segment.replaceAll(/[{}]/g, encodeURIComponent);
      }
      const argument = this.args.add(name, { type: "string" }, { isRequired: true, place: "path" });
      return `{${argument}}`;
    }).join("/");
  }

  readQuery(search: string): Record<string, string> | undefined {
    const query: Record<string, string> = {};
    for (const [name, value] of new URLSearchParams(search)) {
      if (isSecretValue(name)) this.#leaveOutName("query");
      else if (isSecret(name, value)) {
        const secret = this.secretName(value, "API_KEY");
        const auth = { in: "query", name } as const;
        this.takeSecret({ secret, type: "api_key", auth, note: null }, `the query entry ${name}`);
      } else {
        const example = /^-?\d{1,15}$/.test(value) ? Number(value) : value;
        query[name] = `{${this.#argument(name, example, "query")}}`;
      }
    }
    return Object.keys(query).length > 0 ? query : undefined;
  }

  readBody({ data, isJson, headers }: CurlRequest): {
    readonly template?: JsonValue;
    readonly headers: Readonly<Record<string, string>>;
  } {
    if (data.length === 0) return { headers: {} };
    const text = data.join(isJson ? "" : "&");
    const json = parsed(text);
    const type = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
    if (isJsonObject(json)) return { headers: {}, template: this.#members(json) };
    if (json !== undefined && (isJson || /json/i.test(type) || typeof json === "object")) {
      return { headers: {}, template: `{${this.#argument("body", json, "body")}}` };
    }
    if (/json/i.test(type) || isJson) {
      const name = this.args.add("body", {}, { isRequired: true, place: "body" });
      this.notes.push("the body is not JSON, so the argument body accepts any value");
      return { headers: {}, template: `{${name}}` };
    }
    if (type !== "" && !type.toLowerCase().startsWith(FORM_TYPE)) {
      return { headers: {}, template: `{${this.#argument("body", "", "body")}}` };
    }
    const fields = Object.fromEntries(new URLSearchParams(text));
    return { headers: { "content-type": FORM_TYPE }, template: this.#members(fields) };
  }

  #members(values: Readonly<Record<string, JsonValue>>): JsonValue {
    const template: Record<string, JsonValue> = {};
    for (const [name, value] of Object.entries(values)) {
      if (isSecretValue(name)) this.#leaveOutName("body");
      else template[name] = `{${this.#argument(name, value, "body")}}`;
    }
    return template;
  }

  /** A secret that stands where a name belongs, such as `?1f3a…`. */
  #leaveOutName(place: string): void {
    this.leftOut.push(`a name in the ${place} that looks like a secret`);
  }

  /** An argument with the type of the value in the command, which is its example unless it is secret. */
  #argument(name: string, value: JsonValue, place: string): string {
    const example = typeof value === "object" || value === "" || hasSecret(name, value) ||
        typeof value === "string" && variableOf(value) !== null
      ? {}
      : { description: `For example ${JSON.stringify(value)}.` };
    return this.args.add(name, { ...typeOf(value), ...example }, { isRequired: false, place });
  }
}

function hasSecret(name: string, value: JsonValue): boolean {
  return isSecret(name, typeof value === "string" ? value : "");
}

function typeOf(value: JsonValue): { readonly type?: string } {
  if (value === null) return {};
  if (Array.isArray(value)) return { type: "array" };
  return { type: typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value };
}

/** Authorization comes before other secrets. */
function rank(name: string): number {
  return name.toLowerCase() === "authorization" ? 0 : 1;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A word that people chose: letters only, in parts of usual length. */
const WORD = /^[A-Za-z]?[a-z]{1,19}([A-Z][a-z]{2,19}|[-_][a-z]{1,19})*$/;

/** The words of a host that name it: without `www`, `api`, the last part and the port. */
function hostWords(host: string): string[] {
  const parts = host.replace(/:\d+$/, "").replace(/^(www|api)\./, "").split(".");
  return parts.slice(0, Math.max(parts.length - 1, 1)).filter((part) => !isSecretValue(part));
}

/** The segments of a path that are words or versions; others may be ids or secrets. */
function pathWords(path: string): string[] {
  return path.split("/").filter((segment) => WORD.test(segment) || /^v\d{1,2}$/.test(segment));
}
