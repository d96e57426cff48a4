import { watchedFetch } from "./connection.ts";
import { projectClient, projectConfig } from "./project_client.ts";
import { RequestError } from "./request_error.ts";

/** A request to an edge function of the project. */
export interface FunctionRequest {
  /** @default "GET" without a body, "POST" with one */
  readonly method?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Calls an edge function as the signed-in user. @throws RequestError */
export async function callFunction<Answer>(
  path: string,
  { method, query = {}, body, signal }: FunctionRequest = {},
): Promise<Answer> {
  const { apiUrl, publishableKey, functions = {} } = projectConfig();
  const { data } = await projectClient().auth.getSession();
  const renamed = path.replace(/^[^/?]+/, (name) => functions[name] ?? name);
  const url = new URL(`${apiUrl}/functions/v1/${renamed}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const answer = await watchedFetch(url, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      apikey: publishableKey,
      ...(data.session === null ? {} : { authorization: `Bearer ${data.session.access_token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  });
  const parsed = await readJson(answer);
  if (answer.ok) return parsed as Answer;
  throw functionError(answer, parsed);
}

async function readJson(answer: Response): Promise<unknown> {
  const text = await answer.text();
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return text;
  }
}

function functionError(answer: Response, body: unknown): RequestError {
  const problem = (body as { error?: Record<string, unknown> } | null)?.error;
  const isOurs = typeof problem === "object" && problem !== null;
  return new RequestError({
    code: isOurs ? String(problem.code) : `HTTP_${answer.status}`,
    message: isOurs ? String(problem.message) : `The project answered ${answer.status}`,
    hint: isOurs && typeof problem.hint === "string" ? problem.hint : null,
    status: answer.status,
    requestId: answer.headers.get("x-request-id") ??
      ((body as { request_id?: string } | null)?.request_id ?? null),
    details: isOurs ? problem.details : body,
  });
}
