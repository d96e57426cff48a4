import { z } from "../../vendor/zod.js";
import type { ResourceContents } from "../../platform/values/content_block.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { schemaMarkdown } from "../sql/schema/schema_markdown.ts";
import { pageOf } from "../sql/schema/schema_page.ts";
import type {
  InternalResource,
  InternalResourceTemplate,
  ToolContext,
} from "../../gateway/tool_contracts/internal_server.ts";
import { documentOf } from "./generate_schema.ts";
import { type KnownSchema, knowSchema } from "./schema_cache.ts";
import { READ_SCOPES } from "./sql_scopes.ts";
import { readSqlSettings } from "./sql_settings.ts";

const SCHEMA_URI = "supabase://schema";
const CONTEXT_URI = "supabase://context";
const MARKDOWN = "text/markdown";
/**
 * Maximum tables and views in the resource; each also has its own resource, and the tool has pages.
 */
const MAX_RELATIONS = 200;

const publishedContext = z.object({ content: z.string() }).nullable();

/** The schema as the caller sees it. */
export const schemaResource: InternalResource = {
  uri: SCHEMA_URI,
  name: "schema",
  title: "Database schema",
  description: "Tables, views, relationships, indexes and policies that you may use, as Markdown.",
  mimeType: MARKDOWN,
  scopes: READ_SCOPES,
  async read(context) {
    const known = await knownTo(context);
    return [contents(SCHEMA_URI, markdownOf(known, undefined))];
  },
};

/** One table or view. */
export const tableResources: InternalResourceTemplate = {
  uriTemplate: `${SCHEMA_URI}/{table}`,
  name: "table",
  title: "Table or view",
  description: "One table or view, as name or schema.name.",
  mimeType: MARKDOWN,
  scopes: READ_SCOPES,
  async read(uri, { table = "" }, context) {
    const known = await knownTo(context);
    const { relations } = pageOf(known.schema, { names: [table], cursor: null, limit: 1 });
    return relations.length === 0 ? null : [contents(uri, markdownOf(known, [table]))];
  },
};

/** The project's learned context for writing SQL. */
export const contextResource: InternalResource = {
  uri: CONTEXT_URI,
  name: "context",
  title: "SQL context",
  description: "The published supabase-sql-context.md: patterns, fixes and insights.",
  mimeType: MARKDOWN,
  scopes: READ_SCOPES,
  async read({ sql }) {
    const [row] = await sql`select private.read_sql_context() as published`;
    const published = publishedContext.parse(row?.published ?? null);
    if (published === null) {
      throw new SwarmError(
        "RESOURCE_NOT_FOUND",
        "Cannot read the SQL context: none has been published",
        { hint: "Run deno task context:push, or deno task start." },
      );
    }
    return [contents(CONTEXT_URI, published.content)];
  },
};

async function knownTo(context: ToolContext): Promise<KnownSchema> {
  return await knowSchema(context, await readSqlSettings(context.sql));
}

function markdownOf(known: KnownSchema, tables: string[] | undefined): string {
  const { analysis } = known;
  const page = pageOf(known.schema, { names: tables ?? null, cursor: null, limit: MAX_RELATIONS });
  return schemaMarkdown(documentOf(
    known,
    page,
    { include_relationships: true, tables, cursor: undefined },
    analysis === null
      ? { kind: "none", reason: "Use generate_schema for a model's analysis." }
      : { kind: "analyzed", analysis },
  ));
}

function contents(uri: string, text: string): ResourceContents {
  return { uri, mimeType: MARKDOWN, text };
}
