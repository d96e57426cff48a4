import type { SchemaEnum, SchemaFunction, SchemaRelation, SchemaType } from "./database_schema.ts";
import type { SchemaAdvisory } from "./schema_advisories.ts";
import type { SchemaRelationship } from "./schema_relationships.ts";

/** One page of a schema with related data, as input for the formats. */
export interface SchemaDocument {
  readonly schemaHash: string;
  readonly relations: readonly SchemaRelation[];
  readonly offset: number;
  readonly total: number;
  readonly nextCursor: string | null;
  /** Null if omitted. */
  readonly relationships: readonly SchemaRelationship[] | null;
  readonly enums: readonly SchemaEnum[];
  /** Domains, composite types and ranges, each after those that it is made of. */
  readonly types: readonly SchemaType[];
  readonly functions: readonly SchemaFunction[];
  readonly advisories: readonly SchemaAdvisory[];
  /** A model's analysis, or the reason why there is none. */
  readonly analysis: string;
}
