/** A row of `net.http_request_queue`. */
export interface HttpRequest {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly body: string | null;
  readonly timeoutMs: number;
}

/** The values of a row of `net._http_response`. */
export interface HttpAnswer {
  readonly statusCode: number | null;
  readonly contentType: string | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly content: string | null;
  readonly isTimedOut: boolean | null;
  readonly errorMessage: string | null;
}

const USER_AGENT = "pg_net/0.20.4";

/** Sends one request. Its timeout includes the response body. Never rejects. */
export async function sendRequest(
  request: HttpRequest,
  stopping: AbortSignal,
): Promise<HttpAnswer> {
  const deadline = AbortSignal.timeout(request.timeoutMs);
  try {
    const response = await fetch(request.url, {
      method: request.method.toUpperCase(),
      headers: withUserAgent(request.headers),
      body: request.body,
      signal: AbortSignal.any([deadline, stopping]),
    });
    return {
      statusCode: response.status,
      contentType: response.headers.get("content-type"),
      headers: Object.fromEntries(response.headers),
      // PostgreSQL text cannot contain a zero character.
      content: (await response.text()).replaceAll("\0", ""),
      isTimedOut: false,
      errorMessage: null,
    };
  } catch (error) {
    return {
      statusCode: null,
      contentType: null,
      headers: null,
      content: null,
      isTimedOut: deadline.aborted,
      errorMessage: deadline.aborted
        ? `Timeout of ${request.timeoutMs} ms reached`
        : describe(error),
    };
  }
}

function withUserAgent(headers: HttpRequest["headers"]): Headers {
  const all = new Headers(headers ?? {});
  if (!all.has("user-agent")) all.set("user-agent", USER_AGENT);
  return all;
}

/** Returns the error's cause, because the message of `fetch` does not have the reason. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
