const METHODS = "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS";
const REQUEST_HEADERS =
  "authorization, apikey, content-type, prefer, range, x-client-info, x-upsert, accept-profile, content-profile";
const EXPOSED_HEADERS = "Content-Range, Content-Location, Preference-Applied, X-Total-Count, Link";
const MAX_AGE_SECONDS = "86400";

/** Returns the response to a browser's preflight request. The API allows every origin. */
export function preflightAnswer(request: Request): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": METHODS,
      "access-control-allow-headers": request.headers.get("access-control-request-headers") ??
        REQUEST_HEADERS,
      "access-control-max-age": MAX_AGE_SECONDS,
    },
  });
}

/** Adds CORS headers, so that pages of every origin can read the response. */
export function withCors(answer: Response): Response {
  const headers = new Headers(answer.headers);
  headers.set("access-control-allow-origin", "*");
  headers.set("access-control-expose-headers", EXPOSED_HEADERS);
  return new Response(answer.body, { status: answer.status, headers });
}
