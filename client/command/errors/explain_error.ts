/** What is printed about an error that ends a command. */
export interface Explanation {
  /** What was tried, and what is wrong. */
  readonly message: string;
  /** What to do next. */
  readonly hint: string | null;
  /** A stable code; null for an error without one. */
  readonly code: string | null;
}

/** The fields that errors of Node, Deno, `postgres` and the platform may have. */
interface ErrorFields {
  readonly name?: string;
  readonly message?: string;
  readonly hint?: string | null;
  readonly code?: unknown;
  readonly detail?: unknown;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
  readonly syscall?: string;
  readonly path?: string;
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}

/** Explains any error in one sentence for what is wrong and one for what to do. */
export function explainError(thrown: unknown): Explanation {
  const error = withoutWrapper(thrown);
  const fields = fieldsOf(error);
  return explainOwn(fields) ?? explainConnection(fields) ?? explainFile(fields) ??
    explainDatabase(fields) ?? {
    message: fields.message || String(error),
    hint: isFault(error)
      ? "This is a fault of the command. SUPASWARM_DEBUG=1 prints where it happened."
      : null,
    code: null,
  };
}

/** The database's own error, which the platform replaces where callers must not see it. */
export function withoutWrapper(error: unknown): unknown {
  const { name, code, cause } = fieldsOf(error);
  const isWrapped = code === "DATABASE_UNAVAILABLE" || code === "INTERNAL";
  return name === "SwarmError" && isWrapped && cause !== undefined ? cause : error;
}

/** Whether an error of this project says itself what to do. */
export function isOwn(error: unknown): boolean {
  return /^(Command|Swarm|SwarmClient)Error$/.test(fieldsOf(error).name ?? "");
}

/**
 * What every command prints about an error that ends it, after the word `error`.
 *
 * @param isDebugging Whether to add where it happened.
 */
export function errorText(error: unknown, isDebugging: boolean): string {
  const { message, hint, code } = explainError(error);
  const stack = isDebugging && error instanceof Error ? error.stack : undefined;
  return [code === null ? message : `${message} [${code}]`, hint, stack].filter(Boolean).join("\n");
}

function fieldsOf(error: unknown): ErrorFields {
  return typeof error === "object" && error !== null ? error : { message: String(error) };
}

function explainOwn(error: ErrorFields): Explanation | null {
  if (!isOwn(error)) return null;
  const { message = "", hint = null, code } = error;
  return { message, hint, code: typeof code === "string" ? code : null };
}

/** Why a server was not reached, by the codes and words of Node, Deno and `postgres`. */
const CONNECTION_REASONS: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED|connection refused/i, "nothing listens there"],
  [/ENOTFOUND|EAI_AGAIN|dns error/i, "there is no such host, or the name server does not answer"],
  [/ETIMEDOUT|CONNECT_TIMEOUT|TimeoutError|timed out/i, "it does not answer"],
  [/EHOSTUNREACH|ENETUNREACH|unreachable/i, "this network has no way to it"],
  [
    /ECONNRESET|EPIPE|CONNECTION_(CLOSED|ENDED|DESTROYED)|UND_ERR_SOCKET|connection reset/i,
    "it closed the connection",
  ],
  [/_CERT|CERT_|LEAF_SIGNATURE|UnknownIssuer|self[- ]signed/i, "its certificate is not trusted"],
];

function explainConnection(error: ErrorFields): Explanation | null {
  const reason = connectionReason(error);
  if (reason === null) return null;
  const { hostname, address, port } = chainOf(error)
    .find(({ hostname, address }) => (hostname ?? address) !== undefined) ?? {};
  const host = hostname ?? address ?? "the server";
  return {
    message: `Cannot connect to ${port === undefined ? host : `${host}:${port}`}: ${reason}`,
    hint: "Check the address, that the server runs, and that this machine is online.",
    code: "UNREACHABLE",
  };
}

/** Why a server was not reached; null if the error is another one. */
export function connectionReason(error: unknown): string | null {
  const chain = chainOf(fieldsOf(error));
  if (chain.some(({ name }) => name === "PostgresError")) return null;
  const isFetch = chain.some(({ name, message = "" }) =>
    name === "TypeError" && /fetch failed|sending request/i.test(message)
  );
  const words = chain.flatMap(({ name, code, message }) => [name, code, isFetch ? message : ""]);
  const known = CONNECTION_REASONS.find(([pattern]) => pattern.test(words.join(" ")))?.[1];
  return known ?? (isFetch ? chain.at(-1)?.message ?? null : null);
}

/** An error with its causes, also those of a host with several addresses. */
function chainOf(error: ErrorFields): ErrorFields[] {
  const inner = [error.cause, ...error.errors ?? []].filter((cause) => cause !== undefined);
  return [error, ...inner.flatMap((cause) => chainOf(fieldsOf(cause)))];
}

/** Why a file could not be used, by the codes of the operating system. */
const FILE_REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not",
  EPERM: "this user may not",
  EROFS: "the file system is read-only",
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of its path is a file where a folder should be",
  EEXIST: "there is a file of this name where a folder should be",
  EISDIR: "it is a folder, not a file",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EMFILE: "too many files are open",
};

function explainFile({ message = "", code, path, syscall }: ErrorFields): Explanation | null {
  const reason = FILE_REASONS[String(code)];
  if (reason === undefined) return null;
  // Deno writes the call and the path only into the message.
  const [, call = syscall, named = path] = /(?:: |, )(\w+) '([^']+)'/.exec(message) ?? [];
  return {
    message: `Cannot ${verbOf(call)} ${named ?? "a file"}: ${reason}`,
    hint: /^E(ACCES|PERM|ROFS)$/.test(String(code))
      ? "Run the command as a user who may, or in another folder."
      : "Correct that and run the command again.",
    code: "FILE_FAILED",
  };
}

function verbOf(call = ""): string {
  if (/mkdir|copy|rename|symlink/.test(call)) return "create";
  if (/write/.test(call)) return "write";
  if (/unlink|^rm|remove/.test(call)) return "delete";
  return /read|scandir|stat/.test(call) ? "read" : "open";
}

/** A refusal of a statement. The platform's own have a stable code as detail. */
function explainDatabase({ name, message, code, detail, hint }: ErrorFields): Explanation | null {
  if (name !== "PostgresError" || message === undefined) return null;
  const sqlstate = String(code);
  if (sqlstate.startsWith("PT")) return { message, hint: hint ?? null, code: String(detail) };
  return {
    message: `The database refused the statement: ${message}`,
    hint: hint ?? null,
    code: sqlstate,
  };
}

/** Whether an error is one that a program makes, and no refusal with a message for people. */
function isFault(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError ||
    error instanceof ReferenceError || error instanceof SyntaxError;
}
