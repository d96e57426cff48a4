import type { z } from "../../shared/vendor/zod.js";
import {
  agentFileSchema,
  alertsFileSchema,
  schedulesFileSchema,
  skillFileSchema,
  toolFileSchema,
  triggersFileSchema,
  webhooksFileSchema,
} from "../../shared/engine/definitions/file_schemas.ts";
import { toInputSchema } from "../../shared/platform/values/json_schema.ts";
import { evalsFileSchema } from "../evals/evals_file_schema.ts";
import { mcpsFileSchema } from "../../shared/gateway/mcps_file/mcps_file_schema.ts";
import { scriptFileSchema } from "../models/script/script_file_schema.ts";

const TITLES = {
  agent: ["agents/<slug>.md, its front matter", agentFileSchema],
  tool: ["agents/tools/<slug>.yaml", toolFileSchema],
  skill: ["agents/skills/<name>/SKILL.md, its front matter", skillFileSchema],
  schedules: ["agents/schedules.yaml", schedulesFileSchema],
  webhooks: ["agents/webhooks.yaml", webhooksFileSchema],
  alerts: ["agents/alerts.yaml", alertsFileSchema],
  triggers: ["agents/triggers.yaml", triggersFileSchema],
  script: ["agents/<slug>.script.yaml", scriptFileSchema],
  evals: ["agents/<slug>.evals.yaml", evalsFileSchema],
  mcps: ["external-mcps.yaml", mcpsFileSchema],
} as const satisfies Record<string, readonly [string, z.ZodType]>;

/** JSON Schemas of the files that users write, by file name: editors complete and check with them. */
export function fileJsonSchemas(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(TITLES).map(([name, [title, schema]]) => [
      `${name}.schema.json`,
      `${
        JSON.stringify(
          {
            $schema: "https://json-schema.org/draft/2020-12/schema",
            title,
            ...toInputSchema(schema),
          },
          null,
          2,
        )
      }\n`,
    ]),
  );
}
