import type { SchemaEnum, SchemaFunction, SchemaRelation } from "./database_schema.ts";
import type { SchemaAdvisory } from "./schema_advisories.ts";
import type { SchemaRelationship } from "./schema_relationships.ts";

/** One page of a schema with what goes with it, for the formats to write. */
export interface SchemaDocument {
  readonly schemaHash: string;
  readonly relations: readonly SchemaRelation[];
  readonly offset: number;
  readonly total: number;
  readonly nextCursor: string | null;
  /** Null: left out. */
  readonly relationships: readonly SchemaRelationship[] | null;
  readonly enums: readonly SchemaEnum[];
  readonly functions: readonly SchemaFunction[];
  readonly advisories: readonly SchemaAdvisory[];
  /** What a model wrote of it, or why none did. */
  readonly analysis: string;
}
