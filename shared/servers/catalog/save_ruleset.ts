import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { insufficientScope } from "../../gateway/tool_contracts/tool_scopes.ts";
import { z } from "../../vendor/zod.js";
import { CATALOG_SCOPES } from "./catalog_scopes.ts";
import { queryAsUser } from "./query_as_user.ts";
import { rulesetNotFound } from "./read_ruleset.ts";
import { rulesetContent } from "./ruleset_content.ts";

/** The result of `private.save_ruleset()`. */
const outcomeSchema = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("saved"), id: z.string(), version: z.int() }),
  z.object({ outcome: z.literal("conflict"), current_version: z.int() }),
  z.object({ outcome: z.literal("not_found") }),
  z.object({ outcome: z.literal("forbidden") }),
]);

/** Saves a new version of a ruleset, or a new ruleset. */
export const saveRulesetTool = defineTool({
  name: "save_ruleset",
  title: "Save a ruleset",
  description: "Creates a ruleset for you or, with id, saves a new version of one. Earlier " +
    "versions do not change. Send the version that you have read as ifMatchVersion: a " +
    "save after somebody else's is then refused (RULESET_VERSION_CONFLICT). Saving a shared " +
    "ruleset needs the scope admin:*.",
  version: "1",
  scopes: CATALOG_SCOPES.writeRulesets,
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  input: z.strictObject({
    id: z.guid().optional().describe("Id of the ruleset to save; omit it to create one"),
    name: z.string().trim().min(1).max(200).optional().describe("Required for a new ruleset"),
    content: rulesetContent,
    ifMatchVersion: z.int().min(0).optional(),
  }),
  output: z.object({ id: z.string(), version: z.int() }),
  async run({ id = null, name = null, content, ifMatchVersion = null }, context) {
    if (id === null && name === null) throw nameMissing();
    const query = { access: "write", action: "save the ruleset", servesService: true } as const;
    const saved = await queryAsUser(context, query, async (sql) => {
      const [row] = await sql`
        select private.save_ruleset(
          p_id => ${id},
          p_name => ${name},
          p_content => ${sql.json(content)},
          p_if_match_version => ${ifMatchVersion}
        ) as saved`;
      return outcomeSchema.parse(row?.saved);
    });
    switch (saved.outcome) {
      case "saved":
        return { id: saved.id, version: saved.version };
      case "conflict":
        throw versionConflict(saved.current_version, ifMatchVersion);
      case "not_found":
        throw rulesetNotFound(id ?? "");
      case "forbidden":
        throw insufficientScope("save the shared ruleset", ["admin:*"]);
    }
  },
});

function nameMissing(): SwarmError {
  return new SwarmError(
    "TOOL_ARGUMENTS_INVALID",
    "Cannot create the ruleset: it has no name",
    { hint: "Send name, or the id of the ruleset to save." },
  );
}

function versionConflict(current: number, expected: number | null): SwarmError {
  return new SwarmError(
    "RULESET_VERSION_CONFLICT",
    `Cannot save the ruleset: its version is ${current}, not ${expected}`,
    {
      hint: "Read it with get_ruleset, apply your change to that, and save with its version.",
      details: { current_version: current },
    },
  );
}
