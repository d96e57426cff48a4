import assert from "node:assert/strict";
import { seededRandom } from "../../../scripts/seeded_random.ts";
import { inputProblem } from "../../../shared/engine/tasks/input_problem.ts";
import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { Swarm } from "./swarm_fixture.ts";

const PAIRS = 6_000;
const NAMES = ["a", "b", "c", "files"];
const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
const TEXTS = ["", "a", "ab", "\u{1F600}", "files"];
const NUMBERS = [0, 1, 1.5, -2, 3];

/** Random small schemas, and values of the same names, texts and numbers. */
class Samples {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  schema(levels = 3): JsonObject {
    const keywords = Object.entries(this.#keywords(levels));
    const isDraft7 = this.#chance(0.1);
    return Object.fromEntries([
      ...isDraft7 ? [["$schema", "http://json-schema.org/draft-07/schema#"]] : [],
      ...keywords.filter(() => this.#chance(2 / keywords.length)).map(([name, make]) => [
        name,
        make(),
      ]),
    ]);
  }

  value(levels = 3): JsonValue {
    const kind = Math.floor(this.#random() * (levels > 0 ? 7 : 4));
    switch (kind) {
      case 0:
        return this.#one(TEXTS);
      case 1:
        return this.#one(NUMBERS);
      case 2:
        return this.#chance(0.5);
      case 3:
        return null;
      case 4:
        return this.#many(() => this.value(levels - 1));
      default:
        return this.#map(() => this.value(levels - 1));
    }
  }

  #keywords(levels: number): Record<string, () => JsonValue> {
    const inner = () => this.#chance(0.1) ? this.#chance(0.5) : this.schema(levels - 1);
    const schemas = () => [inner(), ...this.#many(inner)];
    const size = () => Math.floor(this.#random() * 3);
    return {
      type: () => this.#chance(0.7) ? this.#one(TYPES) : [this.#one(TYPES), this.#one(TYPES)],
      enum: () => [this.value(1), this.value(1), this.value(1)],
      const: () => this.value(1),
      minimum: () => this.#one(NUMBERS),
      exclusiveMaximum: () => this.#one(NUMBERS),
      minLength: size,
      maxLength: size,
      minItems: size,
      maxItems: size,
      required: () => [this.#one(NAMES)],
      format: () => "date",
      pattern: () => "^a",
      uniqueItems: () => true,
      ...levels === 0 ? {} : {
        properties: () => this.#map(inner),
        patternProperties: () => ({ "^[ab]$": inner() }),
        additionalProperties: inner,
        items: () => this.#chance(0.2) ? schemas() : inner(),
        prefixItems: schemas,
        contains: inner,
        allOf: schemas,
        anyOf: schemas,
        oneOf: schemas,
        not: inner,
        if: inner,
        then: inner,
        $ref: () => "#/properties/a",
      },
    };
  }

  #map(make: () => JsonValue): JsonObject {
    return Object.fromEntries(
      NAMES.filter(() => this.#chance(0.5)).map((name) => [name, make()]),
    );
  }

  #many(make: () => JsonValue): JsonValue[] {
    return Array.from({ length: Math.floor(this.#random() * 3) }, make);
  }

  #one<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }
}

Deno.test("SQL refuses no input that the whole schema allows", async () => {
  const swarm = await Swarm.open();
  try {
    const seed = Math.floor(Math.random() * 1e9);
    const samples = new Samples(seed);
    const pairs = Array.from({ length: PAIRS }, () => ({
      schema: samples.schema(),
      input: samples.value(),
    }));

    const rows = await swarm.sql<{ problem: string | null }[]>`
      select private.input_problem(
        jsonb_populate_record(null::public.agents, jsonb_build_object('input_schema', pair -> 'schema')),
        pair -> 'input') as problem
      from jsonb_array_elements(${swarm.sql.json(pairs)}) with ordinality as pairs (pair, place)
      order by place`;

    let refused = 0;
    for (const [place, { problem }] of rows.entries()) {
      if (problem === null) continue;
      refused++;
      const { schema, input } = pairs[place] as (typeof pairs)[number];
      assert.notEqual(
        inputProblem(schema, input),
        null,
        `seed ${seed}: SQL says "${problem}" of ${JSON.stringify({ schema, input })}`,
      );
    }
    assert.ok(refused > PAIRS / 10, `only ${refused} inputs were refused`);
  } finally {
    await swarm.close();
  }
});
