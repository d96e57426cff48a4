import { quoteName } from "../sql/schema/quote_name.ts";
import { createsTable, type DefinitionCall, slugOf } from "./definition_call.ts";
import type { StatementAnswer } from "./statement_request.ts";

/** A file that makes a definition when it is pushed with the project's other migrations. */
export type ProposedMigration = NonNullable<StatementAnswer["proposed_migration"]>;

/** Writes the migration for a definition that the caller cannot run. Nothing is stored. */
export function proposeMigration(
  { statement, definition }: DefinitionCall,
  now: Date,
): ProposedMigration {
  const timestamp = now.toISOString().replace(/\D/g, "").slice(0, 14);
  const created = definition.targets.find(({ effect }) => effect === "create");
  const secured = createsTable(definition) && created !== undefined
    ? `\nalter table ${
      [created.schema, created.name].flatMap((part) => part === null ? [] : quoteName(part))
        .join(".")
    } enable row level security;\n`
    : "";
  return {
    path: `supabase/migrations/${timestamp}_${slugOf(statement, definition)}.sql`,
    // A comment at the statement's end would swallow a semicolon on the same line.
    content: `${statement.text}\n;\n${secured}`,
  };
}
