/** Longer schemas cost more tokens than a tool is worth, and take long to read for each value. */
export const MAX_SCHEMA_CHARACTERS = 100_000;
