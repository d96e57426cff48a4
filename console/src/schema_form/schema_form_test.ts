import { mount, type VueWrapper } from "@vue/test-utils";
import { describe, expect, test } from "vitest";
import type { Json, JsonSchema } from "../../../client/mod.ts";
import { valueProblems } from "./check_value.ts";
import { openForm } from "../testing/form_robot.ts";
import { fieldKind } from "./read_schema.ts";
import SchemaForm from "./SchemaForm.vue";

function inputAt(form: VueWrapper, path: string, selector = ":is(input, textarea, select)") {
  return form.find(`[data-path="${path}"] ${selector}`);
}

/** JSON Schema constructs, each with the user's input and the resulting value. */
const CONSTRUCTS: Record<string, { schema: JsonSchema; fill: [string, string][]; made: Json }> = {
  "texts and numbers": {
    schema: {
      type: "object",
      properties: { name: { type: "string" }, count: { type: "integer", minimum: 1 } },
      required: ["name", "count"],
    },
    fill: [["/name", "Ada"], ["/count", "3"]],
    made: { name: "Ada", count: 3 },
  },
  "nested objects": {
    schema: {
      type: "object",
      properties: {
        where: {
          type: "object",
          properties: { city: { type: "string" } },
          required: ["city"],
        },
      },
      required: ["where"],
    },
    fill: [["/where/city", "Bern"]],
    made: { where: { city: "Bern" } },
  },
  "a required constant": {
    schema: {
      type: "object",
      properties: { kind: { const: "note" }, text: { type: "string" } },
      required: ["kind", "text"],
    },
    fill: [["/text", "hi"]],
    made: { kind: "note", text: "hi" },
  },
  "a reference to a definition": {
    schema: {
      type: "object",
      properties: { owner: { $ref: "#/$defs/person" } },
      required: ["owner"],
      $defs: {
        person: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      },
    },
    fill: [["/owner/name", "Ada"]],
    made: { owner: { name: "Ada" } },
  },
  "parts that hold together": {
    schema: {
      allOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { properties: { b: { type: "number" } }, required: ["b"] },
      ],
    },
    fill: [["/a", "x"], ["/b", "1.5"]],
    made: { a: "x", b: 1.5 },
  },
  "a choice of values": {
    schema: {
      type: "object",
      properties: { level: { enum: ["low", 2, null] } },
      required: ["level"],
    },
    fill: [["/level", "1"]],
    made: { level: 2 },
  },
  "a null that may stand for a text": {
    schema: {
      type: "object",
      properties: { token: { type: ["string", "null"] } },
      required: ["token"],
    },
    fill: [["/token", "0"]],
    made: {},
  },
};

describe("SchemaForm", () => {
  for (const [name, { schema, fill, made }] of Object.entries(CONSTRUCTS)) {
    test(`produces a value for ${name}`, async () => {
      const { form, value } = openForm(schema);
      for (const [path, text] of fill) await inputAt(form, path).setValue(text);
      expect(value()).toEqual(made);
      if (name !== "a null that may stand for a text") {
        expect(valueProblems(schema, value())).toEqual([]);
      }
    });
  }

  test("offers the alternatives of a union at the root, and produces a value of the chosen one", async () => {
    const schema: JsonSchema = {
      oneOf: [
        {
          title: "By id",
          type: "object",
          properties: { id: { type: "integer" } },
          required: ["id"],
        },
        {
          title: "By name",
          type: "object",
          properties: { name: { type: "string" } },
          required: ["name"],
        },
      ],
    };
    const { form, value } = openForm(schema);
    const kind = form.find('select[aria-label="Kind of Arguments"]');
    expect(kind.text()).toContain("By id");
    await kind.setValue("1");
    await inputAt(form, "/name").setValue("Ada");
    expect(value()).toEqual({ name: "Ada" });
    expect(valueProblems(schema, value())).toEqual([]);
  });

  test("adds and removes items of a list", async () => {
    const schema: JsonSchema = {
      type: "object",
      properties: { tags: { type: "array", items: { type: "string" } } },
    };
    const { form, value } = openForm(schema);
    await form.find('[aria-label="Add tags"]').trigger("click");
    await form.find('[aria-label="Add to tags"]').trigger("click");
    await inputAt(form, "/tags/0").setValue("red");
    expect(value()).toEqual({ tags: ["red"] });
    await form.find('[aria-label="Remove tags 1"]').trigger("click");
    expect(value()).toEqual({ tags: [] });
  });

  test("adds members to an open map", async () => {
    const schema: JsonSchema = { type: "object", additionalProperties: { type: "number" } };
    const { form, value } = openForm(schema);
    await form.find(".new-name").setValue("weight");
    await form.find(".new-name").trigger("keydown.enter");
    await inputAt(form, "/weight").setValue("2");
    expect(value()).toEqual({ weight: 2 });
  });

  test("terminates for a schema that refers to itself", async () => {
    const schema: JsonSchema = {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          properties: { name: { type: "string" }, next: { $ref: "#/$defs/node" } },
          required: ["name"],
        },
      },
    };
    const { form, value } = openForm(schema);
    await inputAt(form, "/name").setValue("a");
    await form.find('[aria-label="Add next"]').trigger("click");
    await inputAt(form, "/next/name").setValue("b");
    expect(value()).toEqual({ name: "a", next: { name: "b" } });
    expect(fieldKind({ $ref: "#" }, { $ref: "#" }).kind).toBe("json");
  });

  test("switches an optional value that is on by default off with one click, and back", async () => {
    const schema: JsonSchema = {
      type: "object",
      properties: {
        enabled: { type: "boolean", default: true },
        watch: { type: "boolean" },
        isPaid: { type: "boolean" },
      },
      required: ["isPaid"],
    };
    const { form, value } = openForm(schema);
    const choicesOf = (path: string) => form.findAll(`[data-path="${path}"] label:has(input)`);
    const chosen = (path: string) =>
      choicesOf(path).filter((one) => (one.find("input").element as HTMLInputElement).checked)
        .map((one) => one.text());
    const choose = async (path: string, text: string) =>
      await choicesOf(path).find((one) => one.text() === text)?.find("input").setValue();

    expect(choicesOf("/enabled").map((one) => one.text())).toEqual(["On", "Off", "Default (On)"]);
    expect(choicesOf("/watch").map((one) => one.text())).toEqual(["On", "Off", "Not set"]);
    expect(choicesOf("/isPaid").map((one) => one.text())).toEqual(["On", "Off"]);
    expect(chosen("/enabled")).toEqual(["Default (On)"]);
    await choose("/enabled", "Off");
    expect(value()).toEqual({ isPaid: false, enabled: false });
    expect(chosen("/enabled")).toEqual(["Off"]);
    await choose("/enabled", "Default (On)");
    expect(value()).toEqual({ isPaid: false });
  });

  test("shows a problem beside its field, whatever the field's name", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: { "a/b c": { type: "integer", minimum: 5 } },
      required: ["a/b c"],
    };
    const problems = valueProblems(schema, { "a/b c": 1 });
    const form = mount(SchemaForm, { props: { schema, problems, modelValue: { "a/b c": 1 } } });
    const field = form.find('[data-path="/a~1b c"]');
    expect(field.find("input").attributes("aria-invalid")).toBe("true");
    expect(field.find(".problem").exists()).toBe(true);
  });

  test("keeps values that it cannot show while other fields change", async () => {
    const schema: JsonSchema = { type: "object", properties: { name: { type: "string" } } };
    const { form, value } = openForm(schema, { name: "a", extra: { deep: [1, { x: null }] } });
    await inputAt(form, "/name").setValue("b");
    expect(value()).toEqual({ name: "b", extra: { deep: [1, { x: null }] } });
  });

  test("shows a value of another type as JSON instead of removing it", () => {
    const schema: JsonSchema = { type: "object", properties: { name: { type: "string" } } };
    const { form } = openForm(schema, { name: { first: "Ada" } });
    expect((inputAt(form, "/name").element as HTMLTextAreaElement).value).toContain('"first"');
  });

  test("reports a field whose text is not JSON, until it shows its value again", async () => {
    const schema: JsonSchema = {
      type: "object",
      properties: { any: {}, name: { type: "string" } },
    };
    const { form, value } = openForm(schema, { any: { a: 1 } });
    const problem = () => form.emitted("update:jsonProblem")?.at(-1)?.[0] ?? "";
    expect(problem()).toBe("");

    await inputAt(form, "/any").setValue("{");
    await inputAt(form, "/name").setValue("Ada");
    expect(value()).toEqual({ any: { a: 1 }, name: "Ada" });
    expect(problem()).not.toBe("");

    await form.setProps({ modelValue: { any: { a: 2 } } });
    expect(form.find(".problem").exists()).toBe(false);
    expect(problem()).toBe("");
  });

  test("accepts valid JSON from the JSON tab, and reports what is wrong", async () => {
    const { form, value } = openForm({ type: "object", properties: { n: { type: "number" } } });
    await form.findAll('[role="tab"]')[1]?.trigger("click");
    await form.find("textarea").setValue('{"n": 1, "other": [true]}');
    expect(value()).toEqual({ n: 1, other: [true] });
    await form.find("textarea").setValue('{"n": ');
    expect(form.text()).toContain("This is not valid JSON");
    expect(value()).toEqual({ n: 1, other: [true] });
  });
});

test("an amount in bytes or millionths of a dollar is also shown in a readable unit", () => {
  const limit = { anyOf: [{ title: "At most", type: "integer" }, { type: "null" }] };
  const form = mount(SchemaForm, {
    props: {
      schema: {
        type: "object",
        properties: { stored_bytes: limit, max_cost_micro_usd: limit, running_tasks: limit },
      },
      modelValue: { stored_bytes: 1073741824, max_cost_micro_usd: 2500000, running_tasks: 6 },
      jsonProblem: "",
      problems: [],
    },
  });

  const input = inputAt(form, "/stored_bytes", "input");
  expect(form.find(`[id="${input.attributes("aria-describedby")}"]`).text()).toBe("= 1.0 GiB");
  expect(form.findAll("[id$=-amount]").map((one) => one.text())).toEqual(["= 1.0 GiB", "= $2.50"]);
});
