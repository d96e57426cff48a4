import { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import { asJsonObject } from "../../platform/values/json.ts";
import { jsonValue } from "../../platform/values/json_schema.ts";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { AUTH_EVENT_FIELDS, storableMetadata } from "./auth_event_fields.ts";
import { queryAsUser } from "./query_as_user.ts";

/** Stores a client's report about its user's session. */
export const logAuthEventTool = defineTool({
  name: "log_auth_event",
  title: "Log an auth event",
  description: "Records that you signed in or out, or that your session or account changed. " +
    `Of metadata, only ${
      AUTH_EVENT_FIELDS.join(", ")
    } are stored, with values that are known to be ` +
    "harmless; everything else is dropped.",
  version: "1",
  scopes: [],
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  input: z.strictObject({
    event: z.enum(CLOSED_SETS.auth_events.event),
    metadata: z.record(z.string(), jsonValue).default({}),
  }),
  output: z.object({ ok: z.literal(true) }),
  recordedArguments: ({ event, metadata }) => ({
    ...(typeof event === "string" ? { event: event.slice(0, 50) } : {}),
    metadata: storableMetadata(asJsonObject(metadata)),
  }),
  run: ({ event, metadata }, context) =>
    queryAsUser(context, { access: "write", action: "log the event" }, async (sql) => {
      await sql`select private.log_auth_event(${event}, ${sql.json(storableMetadata(metadata))})`;
      return { ok: true as const };
    }),
});
