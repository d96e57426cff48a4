import { functionMarker, MARKERS } from "./markers.ts";

/** The names under which a project has the platform. */
export interface ChosenNames {
  /**
   * Schema of what clients may read. The rest is in `private` for `public`, otherwise in a schema
   * whose name ends with `_private`.
   */
  readonly schema: InstalledSchema;
  /** The project's name of each edge function, by the platform's name. */
  readonly functions: Readonly<Record<string, string>>;
}

/** The schemas in which the platform can be installed. */
export const INSTALLED_SCHEMAS = ["supaswarm", "public"] as const;
export type InstalledSchema = typeof INSTALLED_SCHEMAS[number];

/** The schema of what the REST API never exposes. */
export function privateSchema(schema: InstalledSchema): string {
  return schema === "public" ? "private" : `${schema}_private`;
}

/** Replaces the markers of a release with a project's names. */
export function fillNames(text: string, { schema, functions }: ChosenNames): string {
  const values: [string, string][] = [
    [MARKERS.public, schema],
    [MARKERS.private, privateSchema(schema)],
    [MARKERS.exposed, schema === "public" ? schema : `public,${schema}`],
    ...Object.entries(functions).map(([name, chosen]): [string, string] => [
      functionMarker(name),
      chosen,
    ]),
  ];
  return values.reduce((filled, [marker, value]) => filled.replaceAll(marker, value), text);
}
