import { z } from "../../vendor/zod.js";
import { describeIssues } from "../../platform/values/describe_issues.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { toStorableText } from "../../platform/values/storable_json.ts";

const listingQuery = z.strictObject({
  server: z.string().min(1).optional(),
  refresh: z.enum(["true", "false"]).optional(),
}).refine(({ server, refresh }) => server !== undefined || refresh === undefined, {
  message: "needs server",
  path: ["refresh"],
});

/**
 * Reads the query of `GET /functions/v1/mcp-execute`.
 *
 * @throws QUERY_INVALID for any other parameter, or one that is given twice.
 */
export function parseListingQuery(
  url: URL,
): { readonly server: string | null; readonly refresh: boolean } {
  const entries = [...url.searchParams].map(([name, value]) => [name, toStorableText(value)]);
  const query = Object.fromEntries(entries);
  const parsed = listingQuery.safeParse(query);
  const isRepeated = Object.keys(query).length < entries.length;
  if (parsed.success && !isRepeated) {
    return { server: parsed.data.server ?? null, refresh: parsed.data.refresh === "true" };
  }
  const problems = parsed.success ? ["a parameter is repeated"] : describeIssues(parsed.error);
  throw new SwarmError("QUERY_INVALID", `Cannot read the query: ${problems.join("; ")}`, {
    hint: "Send ?server=<slug>, and refresh=true to list the server's tools now.",
  });
}
