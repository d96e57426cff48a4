import type { Dialect } from "./convert_schema.ts";
import { PROPERTY_NAME } from "./openai_dialect.ts";

/**
 * Anthropic takes JSON Schema 2020-12 as it is, below the root. Its strict mode is not used: its
 * limits count over all tools of a request, so that one tool more could fail every call.
 */
export const anthropicDialect: Dialect = {
  propertyName: PROPERTY_NAME,
  isStrict: false,
  prepare: (schema) => schema,
  takes: () => true,
};
