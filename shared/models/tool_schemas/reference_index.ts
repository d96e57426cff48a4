import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { DATA_KEYWORDS } from "./schema_keywords.ts";
import { unusableSchema } from "./schema_error.ts";
import { fragmentNames, valueAt } from "../../platform/values/json_pointer.ts";

/** Base URI for schemas without their own `$id`. */
const OWN_ADDRESS = "tool:///schema";
/** Deeper documents are attacks or mistakes. */
const MAX_DOCUMENT_DEPTH = 100;

/** The target of a reference. */
export interface ReferenceTarget {
  /** The canonical address of the target. */
  readonly address: string;
  readonly schema: JsonValue;
  /** The base URI for the target's own references. */
  readonly base: string;
}

/** Resolves `$ref` within one document: pointers, anchors and embedded `$id`s. */
export class ReferenceIndex {
  readonly base: string;
  readonly #root: JsonObject;
  /** By address: whole resources and anchors. */
  readonly #places = new Map<string, { schema: JsonObject; base: string }>();

  constructor(root: JsonObject) {
    this.#root = root;
    this.base = this.baseOf(root, OWN_ADDRESS);
    this.#places.set(OWN_ADDRESS, { schema: root, base: this.base });
    this.#places.set(this.base, { schema: root, base: this.base });
    this.#collect(root, OWN_ADDRESS, 0);
  }

  /** The address of a schema that may have its own `$id`. */
  baseOf(schema: JsonObject, base: string): string {
    const id = schema.$id ?? schema.id;
    if (typeof id !== "string" || id.startsWith("#")) return base;
    return toAddress(id, base)?.split("#")[0] ?? base;
  }

  /** @throws SwarmError `TOOL_CONFIG_INVALID` for a remote or dangling reference. */
  find(reference: string, base: string): ReferenceTarget {
    const address = toAddress(reference, base);
    const [resource = "", fragment = ""] = address?.split("#") ?? [];
    const whole = this.#places.get(resource);
    if (address === undefined || whole === undefined) {
      throw unusableSchema(`it refers to '${reference}', outside itself`);
    }
    if (fragment === "") return { address: resource, ...whole };
    const anchored = this.#places.get(address);
    if (anchored !== undefined) return { address, ...anchored };
    // Some schemas use `id` with another meaning; then the document itself is the target.
    const names = fragmentNames(fragment);
    const schema = fragment.startsWith("/")
      ? valueAt(whole.schema, names) ?? valueAt(this.#root, names)
      : undefined;
    if (schema === undefined) {
      throw unusableSchema(`it refers to '${reference}', which does not exist`);
    }
    return { address, schema, base: whole.base };
  }

  #collect(value: JsonValue, outerBase: string, depth: number): void {
    if (depth > MAX_DOCUMENT_DEPTH) {
      throw unusableSchema(`it is nested deeper than ${MAX_DOCUMENT_DEPTH} levels`);
    }
    if (Array.isArray(value)) {
      for (const item of value) this.#collect(item, outerBase, depth + 1);
    }
    if (!isJsonObject(value)) return;
    const base = this.baseOf(value, outerBase);
    if (base !== outerBase) this.#remember(base, value, base);
    for (const anchor of [value.$anchor, value.$dynamicAnchor]) {
      if (typeof anchor === "string") this.#remember(`${base}#${anchor}`, value, base);
    }
    for (const id of [value.$id, value.id]) {
      if (typeof id === "string" && id.startsWith("#")) {
        this.#remember(`${base}${id}`, value, base);
      }
    }
    for (const [keyword, inner] of Object.entries(value)) {
      if (!DATA_KEYWORDS.has(keyword)) this.#collect(inner, base, depth + 1);
    }
  }

  #remember(address: string, schema: JsonObject, base: string): void {
    if (!this.#places.has(address)) this.#places.set(address, { schema, base });
  }
}

function toAddress(reference: string, base: string): string | undefined {
  return URL.parse(reference, base)?.href.replace(/#$/, "");
}
