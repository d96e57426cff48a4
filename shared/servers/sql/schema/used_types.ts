import { quoteName, quoteText } from "./quote_name.ts";
import type { DatabaseSchema, SchemaEnum, SchemaRelation, SchemaType } from "./database_schema.ts";

/** The described types of a schema or of a part of it. */
export type DescribedTypes = Pick<DatabaseSchema, "enums" | "types">;

/**
 * The described types that columns of these types use, also through lists and other types. Each
 * comes after those that it is made of.
 */
export function usedTypes(
  relations: readonly {
    readonly columns: readonly Pick<SchemaRelation["columns"][number], "type">[];
  }[],
  { enums, types }: DescribedTypes,
): DescribedTypes {
  const enumOf = new Map(enums.map((entry) => [entry.written, entry]));
  const typeOf = new Map(types.map((entry) => [entry.written, entry]));
  const usedEnums = new Set<SchemaEnum>();
  const used = new Set<SchemaType>();
  const visited = new Set<string>();
  const visit = (written: string): void => {
    const name = written.replace(/(\[\])+$/, "");
    if (visited.has(name)) return;
    visited.add(name);
    const labels = enumOf.get(name);
    if (labels !== undefined) usedEnums.add(labels);
    const type = typeOf.get(name);
    if (type === undefined) return;
    partsOf(type).forEach(visit);
    used.add(type);
  };
  for (const { columns } of relations) columns.forEach(({ type }) => visit(type));
  return { enums: [...usedEnums], types: [...used] };
}

/** All types, each after those that it is made of. */
export function orderTypes(described: DescribedTypes): DescribedTypes {
  const all = described.types.map(({ written }) => ({ type: written }));
  return { enums: described.enums, types: usedTypes([{ columns: all }], described).types };
}

function partsOf({ base_type: base, attributes }: SchemaType): readonly string[] {
  return [...(base === null ? [] : [base]), ...attributes.map(({ type }) => type)];
}

/** A type's name and rules in one line, as a prompt or a list shows it. */
export function typeText(type: SchemaEnum | SchemaType): string {
  if ("values" in type) return `(${type.values.map(quoteText).join(", ")})`;
  const { kind, base_type: base, is_nullable: isNullable, checks, attributes } = type;
  if (kind === "composite") {
    return `(${attributes.map(({ name, type }) => `${quoteName(name)} ${type}`).join(", ")})`;
  }
  return [base, ...(isNullable ? [] : ["not null"]), ...checks.map(({ definition }) => definition)]
    .join(" ");
}
