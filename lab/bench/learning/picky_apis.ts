import type { JsonObject } from "../../../shared/platform/values/json.ts";

/** Possible names of each parameter. Each API accepts one of them. */
export const SYNONYMS = [
  ["user", "user_id", "username", "account"],
  ["date", "day", "on_date", "when"],
] as const;

/** An API that documents many optional parameters but works with only one pair of them. */
export interface PickyApi {
  /** Slug of its tool. */
  readonly slug: string;
  /** The accepted names, one of each row of {@linkcode SYNONYMS}. */
  readonly wants: readonly string[];
}

/** APIs that accept different names. */
export const PICKY_APIS: readonly PickyApi[] = [
  "orders",
  "invoices",
  "shifts",
  "visits",
  "refunds",
  "meters",
].map((slug, n) => ({
  slug,
  wants: SYNONYMS.map((names, slot) => names[(n + slot * (n + 1)) % names.length] ?? names[0]),
}));

/** The documented parameters. The API does not document which are required. */
export const PARAMETERS: JsonObject = {
  type: "object",
  properties: Object.fromEntries(SYNONYMS.flat().map((name) => [name, { type: "string" }])),
};

/** The running APIs on loopback, each at the path of its slug. */
export interface PickyServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts the APIs. Like many real ones, they report only the first mistake. */
export function startPickyApis(): PickyServer {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const api = PICKY_APIS.find(({ slug }) => pathname === `/${slug}`);
    if (api === undefined) return new Response(null, { status: 404 });
    const missing = api.wants.find((name) => !searchParams.has(name));
    return missing === undefined
      ? Response.json({ found: 3 })
      : Response.json({ error: `missing parameter: ${missing}` }, { status: 422 });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
