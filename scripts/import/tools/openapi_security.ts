import { listOf, type Part, partOf, resolved, textOf } from "./openapi_parts.ts";
import { secretNameOf } from "./project_secrets.ts";

/** Where a secret is sent, and what it is called. */
export interface ToolSecret {
  readonly secret: string;
  readonly type: "api_key" | "bearer_token";
  readonly auth: {
    readonly in: "header" | "query";
    readonly name: string;
    readonly prefix?: string;
  };
  /** What the secret has to contain, if that is not the key itself; null otherwise. */
  readonly note: string | null;
}

/** The secret of an operation, and the schemes that cannot be sent beside it. */
export interface OperationSecurity {
  readonly secret: ToolSecret | null;
  readonly notes: readonly string[];
}

/** What the name of a secret comes from: no document may choose it. */
export interface SecretChoices {
  /** The host of the operation's server. */
  readonly host: string;
  /** The name that the user chose. */
  readonly secretName: string | undefined;
}

/** The security of an operation: its first alternative whose first scheme is known. */
export function securityOf(
  document: Part,
  operation: Part,
  choices: SecretChoices,
): OperationSecurity {
  const alternatives = listOf(operation.security ?? document.security).map(partOf);
  const named = alternatives.map((one) => Object.keys(one)).filter((names) => names.length > 0);
  const schemes = {
    ...partOf(document.securityDefinitions),
    ...partOf(partOf(document.components).securitySchemes),
  };
  for (const [first = "", ...others] of named) {
    const secret = toSecret(resolved(document, schemes[first]), choices);
    if (secret === null) continue;
    const notes = others.map((name) =>
      `the security scheme ${name} cannot be sent beside ${first}`
    );
    return { secret, notes: secret.note === null ? notes : [secret.note, ...notes] };
  }
  const unknown = named[0]?.[0];
  return {
    secret: null,
    notes: unknown === undefined ? [] : [`the security scheme ${unknown} is not known`],
  };
}

function toSecret(scheme: Part, { host, secretName }: SecretChoices): ToolSecret | null {
  const type = textOf(scheme.type).toLowerCase();
  const name = textOf(scheme.name);
  const place = textOf(scheme.in).toLowerCase();
  const inHeader = (prefix: string) => ({ in: "header", name: "Authorization", prefix }) as const;
  const keyName = secretName ?? secretNameOf(host, "API_KEY");
  if (type === "apikey" && name !== "") {
    const auth = place === "query"
      ? { in: "query", name } as const
      : place === "cookie"
      ? { in: "header", name: "Cookie", prefix: `${name}=` } as const
      : { in: "header", name } as const;
    return { secret: keyName, type: "api_key", auth, note: null };
  }
  const isBasic = type === "basic" ||
    type === "http" && textOf(scheme.scheme).toLowerCase() === "basic";
  if (isBasic) return basicSecret(secretName ?? secretNameOf(host, "BASIC_AUTH"));
  if (!["http", "oauth2", "openidconnect"].includes(type)) return null;
  return {
    secret: secretName ?? secretNameOf(host, "TOKEN"),
    type: "bearer_token",
    auth: inHeader(`${type === "http" ? capitalized(textOf(scheme.scheme)) : "Bearer"} `),
    note: null,
  };
}

/** A secret for a user and a password. */
export function basicSecret(secret: string): ToolSecret {
  return {
    secret,
    type: "api_key",
    auth: { in: "header", name: "Authorization", prefix: "Basic " },
    note: `${secret} is user:password in base64`,
  };
}

function capitalized(scheme: string): string {
  return scheme === "" ? "Bearer" : scheme.charAt(0).toUpperCase() + scheme.slice(1);
}
