/** Parses YAML of the core schema: plain data, no custom tags. Throws if it is malformed. */
export type ParseYaml = (text: string) => unknown;
