import assert from "node:assert/strict";
import {
  FUNCTION_TARGETS,
  toFunctionDefinition,
} from "../../../shared/models/tool_schemas/function_definition.ts";
import { fitsSchema } from "../../../shared/models/tool_schemas/fits_schema.ts";
import { NASTY_SCHEMAS } from "./nasty_schemas.ts";
import { rulesFor } from "./rules_for.ts";
import { canTellApart } from "./exact_conversion.ts";

for (const { what, schema, valid, invalid = [] } of NASTY_SCHEMAS) {
  for (const target of FUNCTION_TARGETS) {
    Deno.test(`${target}: ${what}`, () => {
      const definition = toFunctionDefinition(
        { name: "tool", description: "A tool.", inputSchema: schema },
        target,
      );
      const { parameters, isStrict, losses } = definition;

      assert.deepEqual(rulesFor(target, isStrict)(parameters), []);
      for (const args of valid) {
        assert.ok(isUsable(schema, args), `invalid sample: ${JSON.stringify(args)}`);
        const provided = definition.toProvided(args);
        assert.deepEqual(definition.toOriginal(provided), args);
        const isTaken = isStrict || fitsSchema(provided, parameters);
        assert.ok(
          isTaken,
          `${JSON.stringify(provided)} is refused by ${JSON.stringify(parameters)}`,
        );
      }
      for (const args of invalid) {
        assert.ok(!fitsSchema(args, schema), `valid itself: ${JSON.stringify(args)}`);
        const isRefused = !fitsSchema(definition.toProvided(args), parameters);
        assert.ok(isRefused || !canTellApart(losses), `${JSON.stringify(args)} is taken`);
      }
    });
  }
}

/** Schemas that our validator cannot use are applied by their server. */
function isUsable(
  schema: (typeof NASTY_SCHEMAS)[number]["schema"],
  args: { [key: string]: never } | object,
): boolean {
  return JSON.stringify(schema).includes("(unclosed") ||
    fitsSchema(JSON.parse(JSON.stringify(args)), schema);
}
