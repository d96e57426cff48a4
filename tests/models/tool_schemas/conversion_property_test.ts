import assert from "node:assert/strict";
import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../shared/platform/values/json.ts";
import { fitsSchema } from "../../../shared/models/tool_schemas/fits_schema.ts";
import {
  FUNCTION_TARGETS,
  type FunctionDefinition,
  type FunctionTarget,
  toFunctionDefinition,
} from "../../../shared/models/tool_schemas/function_definition.ts";
import { acceptsNull } from "../../../shared/models/tool_schemas/convert_schema.ts";
import { loadFastCheck } from "../../deps.ts";
import { canTellApart } from "./exact_conversion.ts";
import { randomSchema } from "./random_schema.ts";
import { rulesFor } from "./rules_for.ts";
import { createRandom, sampleValue } from "./sample_value.ts";

const SEED = 20_261_122;
const SCHEMAS = 400;
/** Samples of each schema. */
const SAMPLES = 4;

/** The number of checked cases, so that a property cannot hold without cases. */
interface Cases {
  checked: number;
}

async function forAll(
  target: FunctionTarget,
  claim: (
    input: { schema: JsonObject; definition: FunctionDefinition; seed: number },
    cases: Cases,
  ) => void,
): Promise<number> {
  const { default: fc } = await loadFastCheck();
  const cases = { checked: 0 };
  fc.assert(
    fc.property(randomSchema(fc), fc.integer(), (schema, seed) => {
      const tool = { name: "tool", description: "A tool.", inputSchema: schema };
      claim({ schema, definition: toFunctionDefinition(tool, target), seed }, cases);
    }),
    { seed: SEED, numRuns: SCHEMAS },
  );
  return cases.checked;
}

for (const target of FUNCTION_TARGETS) {
  Deno.test(`${target}: every definition follows the provider's rules`, async () => {
    const strict = await forAll(target, ({ definition: { parameters, isStrict } }, cases) => {
      assert.deepEqual(rulesFor(target, isStrict)(parameters), []);
      if (isStrict) cases.checked++;
    });
    if (target === "openai") assert.ok(strict > SCHEMAS / 10, `${strict} were strict`);
  });

  Deno.test(`${target}: arguments that match the definition match the tool`, async () => {
    const checked = await forAll(target, ({ schema, definition, seed }, cases) => {
      if (!canTellApart(definition.losses)) return;
      for (const provided of samples(definition.parameters, seed)) {
        if (!fitsSchema(provided, definition.parameters)) continue;
        const args = definition.toOriginal(provided);
        assert.ok(fitsSchema(args, schema), show({ schema, definition, provided, args }));
        cases.checked++;
      }
    });
    assert.ok(checked > SCHEMAS / 5, `only ${checked} were checked`);
  });

  Deno.test(`${target}: arguments that match the tool survive a round trip`, async () => {
    const checked = await forAll(target, ({ schema, definition, seed }, cases) => {
      for (const args of samples(schema, seed)) {
        if (!fitsSchema(args, schema)) continue;
        const provided = definition.toProvided(args);
        const taken = definition.isStrict
          ? withOptional(definition.parameters)
          : definition.parameters;
        const isTaken = fitsSchema(provided, taken);
        // An open option accepts what another one describes differently. When folded, the other's
        // description applies; when closed, nothing passes.
        const isNarrowed = definition.losses.some(({ action }) => action === "folded") ||
          (definition.isStrict && JSON.stringify(schema).includes('"anyOf"'));
        assert.ok(isTaken || isNarrowed, show({ schema, definition, provided, args }));
        if (!isTaken) continue;
        assert.deepEqual(definition.toOriginal(provided), args);
        cases.checked++;
      }
    });
    assert.ok(checked > SCHEMAS / 5, `only ${checked} were checked`);
  });
}

function samples(schema: JsonObject, seed: number): JsonObject[] {
  const random = createRandom(seed);
  return Array.from({ length: SAMPLES }, () => asJsonObject(sampleValue(schema, schema, random)));
}

/** A strict schema whose nullable members may also be omitted. */
function withOptional(schema: JsonValue): JsonObject {
  if (!isJsonObject(schema)) return {};
  const { properties, items, anyOf } = schema;
  const inner = Object.entries(asJsonObject(properties));
  const optional = inner.filter(([, value]) => acceptsNull(asJsonObject(value)))
    .map(([name]) => name);
  return {
    ...schema,
    ...(properties === undefined ? {} : {
      properties: Object.fromEntries(inner.map(([name, value]) => [name, withOptional(value)])),
      required: inner.map(([name]) => name).filter((name) => !optional.includes(name)),
    }),
    ...(items === undefined ? {} : { items: withOptional(items) }),
    ...(Array.isArray(anyOf) ? { anyOf: anyOf.map(withOptional) } : {}),
  };
}

function show(
  { schema, definition, provided, args }: {
    schema: JsonObject;
    definition: FunctionDefinition;
    provided: JsonObject;
    args: JsonObject;
  },
): string {
  const { parameters, losses } = definition;
  return JSON.stringify({ schema, parameters, losses, provided, args }, null, 1);
}
