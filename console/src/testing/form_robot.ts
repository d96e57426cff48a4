import { type DOMWrapper, mount, type VueWrapper } from "@vue/test-utils";
import { shallowRef } from "vue";
import type { Json, JsonSchema } from "../../../client/mod.ts";
import { initialValue } from "../schema_form/initial_value.ts";
import { pointerTo } from "../format/json_pointer.ts";
import SchemaForm from "../schema_form/SchemaForm.vue";

/** For tests: a form and the value that it produced. */
export function openForm(
  schema: JsonSchema,
  start?: Json,
): { form: VueWrapper; value: () => Json } {
  const value = shallowRef<Json>(start ?? initialValue(schema, schema) ?? {});
  const form = mount(SchemaForm, {
    props: {
      schema,
      problems: [],
      modelValue: value.value,
      "onUpdate:modelValue": async (next: Json) => {
        value.value = next;
        await form.setProps({ modelValue: next });
      },
    },
  });
  return { form, value: () => value.value };
}

/** A value that no control of the form accepts: it is entered in the JSON tab. */
export class Unsayable extends Error {}

/**
 * For tests: enters a value only through the controls of the form, as a user does.
 *
 * @throws Unsayable if a part of the value has no control.
 */
export async function enterValue(form: VueWrapper, value: Json, path = ""): Promise<void> {
  const own = ownControls(form, path);
  const json = own("textarea.mono")[0];
  if (json !== undefined) return await json.setValue(JSON.stringify(value));
  const kinds = own('select[aria-label^="Kind of"]')[0];
  await own('button[aria-label^="Add "]:not([aria-label^="Add to"])')[0]?.trigger("click");
  const kindsNow = kinds ?? own('select[aria-label^="Kind of"]')[0];
  if (kindsNow !== undefined) return await enterVariant(form, { kinds: kindsNow, value, path });
  await enterPlain(form, value, path);
}

/** Tries one variant after the other, like a user who looks for the matching one. */
async function enterVariant(
  form: VueWrapper,
  { kinds, value, path }: { kinds: DOMWrapper<Element>; value: Json; path: string },
): Promise<void> {
  const count = kinds.findAll("option").length;
  for (let index = 0; index < count; index++) {
    const now = ownControls(form, path)('select[aria-label^="Kind of"]')[0];
    await now?.setValue(String(index));
    try {
      await enterPlain(form, value, path);
    } catch (error) {
      if (error instanceof Unsayable) continue;
      throw error;
    }
    const made = valueAt(form, path);
    if (made !== undefined && same(made, value)) return;
  }
  throw new Unsayable(`No variant at ${path || "the root"} accepts ${JSON.stringify(value)}`);
}

async function enterPlain(form: VueWrapper, value: Json, path: string): Promise<void> {
  const own = ownControls(form, path);
  const control =
    own("input.input:not(.new-name), textarea, select:not([aria-label^='Kind of'])")[0];
  if (Array.isArray(value) && own("button[aria-label^='Add to']").length > 0) {
    for (const [index, item] of value.entries()) {
      const at = pointerTo(path, String(index));
      if (fieldsAt(form, at).length === 0) {
        await ownControls(form, path)("button[aria-label^='Add to']")[0]?.trigger("click");
      }
      await enterValue(form, item as Json, at);
    }
    return;
  }
  if (
    typeof value === "object" && value !== null && !Array.isArray(value) && control === undefined
  ) {
    for (const [name, member] of Object.entries(value)) {
      const at = pointerTo(path, name);
      if (fieldsAt(form, at).length === 0) {
        const newName = ownControls(form, path)(".new-name")[0];
        if (newName === undefined) throw new Unsayable(`No field for ${at}`);
        await newName.setValue(name);
        await newName.trigger("keydown.enter");
      }
      await enterValue(form, member as Json, at);
    }
    return;
  }
  const choices = own('input[type="radio"]');
  if (choices.length > 0 && typeof value === "boolean") {
    return await choices[value ? 0 : 1]?.trigger("change");
  }
  if (control === undefined) return;
  if (control.element instanceof HTMLSelectElement) {
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    const option = control.findAll("option").find((one) =>
      one.attributes("value") !== "" && one.text() === shown.trim()
    );
    if (option === undefined) throw new Unsayable(`No option ${shown} at ${path}`);
    return await control.setValue(option.attributes("value"));
  }
  if (typeof value !== "string" && typeof value !== "number") {
    throw new Unsayable(`No control for ${JSON.stringify(value)} at ${path}`);
  }
  await control.setValue(String(value));
}

/** Controls that belong to the value at a path, and not to a part of it. */
function ownControls(form: VueWrapper, path: string) {
  return (selector: string): DOMWrapper<Element>[] =>
    fieldsAt(form, path).flatMap((field) => field.findAll(selector))
      .filter(({ element }) => element.closest("[data-path]")?.getAttribute("data-path") === path);
}

function fieldsAt(form: VueWrapper, path: string): DOMWrapper<Element>[] {
  return form.findAll("[data-path]").filter((one) => one.attributes("data-path") === path);
}

function valueAt(form: VueWrapper, path: string): Json | undefined {
  let at = (form.props() as { modelValue?: Json }).modelValue;
  for (const part of path.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = (at as Record<string, Json> | undefined)?.[name];
  }
  return at;
}

/** Whether two values are the same JSON, regardless of the order of members. */
export function same(one: unknown, other: unknown): boolean {
  return sorted(one) === sorted(other);
}

function sorted(value: unknown): string {
  return JSON.stringify(
    value,
    (_key, part) =>
      typeof part === "object" && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
        : part,
  ) ?? "";
}
