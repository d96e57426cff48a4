import type { Dialect } from "./convert_schema.ts";
import { PROPERTY_NAME } from "./openai_dialect.ts";

/**
 * Anthropic accepts JSON Schema 2020-12 below the root. Its strict mode is not used, because its
 * limits apply to all tools of a request together: one more tool could make every call fail.
 */
export const anthropicDialect: Dialect = {
  propertyName: PROPERTY_NAME,
  isStrict: false,
  prepare: (schema) => schema,
  takes: () => true,
};
