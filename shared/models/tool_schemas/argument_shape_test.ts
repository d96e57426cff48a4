import assert from "node:assert/strict";
import { timed } from "../../../scripts/test/cpu_time.ts";
import { type ArgumentShape, SAME_SHAPE, toOriginalArguments } from "./argument_shape.ts";

const MAX_MS = 50;

function shapeOf(names: readonly string[]): ArgumentShape {
  const properties = names.map((original) => ({
    original,
    provided: `${original}_`,
    isRequired: false,
    schema: {},
    shape: SAME_SHAPE,
  }));
  return { ...SAME_SHAPE, properties };
}

Deno.test("unknown arguments take little time, however many the schema declares", () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `declared${index}`);
  const option = { original: {}, provided: {}, shape: shapeOf(names.slice(2_500)) };
  const shape = { ...shapeOf(names.slice(0, 2_500)), choices: [[option]] };
  const unknown = Array.from({ length: 15_000 }, (_, index) => [`unknown${index}`, index]);
  const args = Object.fromEntries([["declared0_", 1], ["declared4999_", 2], ...unknown]);

  const { value, cpuMs } = timed(() => toOriginalArguments(args, shape), MAX_MS);

  assert.deepEqual(value, Object.fromEntries([["declared0", 1], ["declared4999", 2], ...unknown]));
  assert.ok(cpuMs <= MAX_MS, `${cpuMs} ms`);
});

Deno.test("all declared arguments take little time", () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `declared${index}`);
  const args = Object.fromEntries(names.map((name) => [`${name}_`, 1]));
  const shape = shapeOf(names);

  const { value, cpuMs } = timed(() => toOriginalArguments(args, shape), MAX_MS);

  assert.deepEqual(Object.keys(value), names);
  assert.ok(cpuMs <= MAX_MS, `${cpuMs} ms`);
});
