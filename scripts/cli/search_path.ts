import { CHOSEN_NAMES } from "../console/chosen_names.ts";

/**
 * The schemas in which statements of a user find names without one. The platform's comes last: a
 * name that the project has too keeps its meaning.
 */
export const SEARCH_PATH = `public, extensions, ${CHOSEN_NAMES.schema ?? "public"}`;
