/** Longest slug that the registry takes. */
export const MAX_SLUG_CHARACTERS = 63;

/** A slug of the letters and digits of a name; empty if it has none. */
export function nameToSlug(name: string): string {
  return plain(name).toLowerCase().replace(/[^a-z0-9_]+/g, "-").replace(/^[-_]+/, "")
    .slice(0, MAX_SLUG_CHARACTERS).replace(/-+$/, "");
}

/** A name in the form of an environment variable, such as `CRM_EXAMPLE_COM` of `crm.example.com`. */
export function nameToVariable(name: string): string {
  return plain(name).toUpperCase().replace(/[^A-Z0-9]+/g, "_").replace(/^(?=[0-9])/, "_");
}

/** Without accents. */
function plain(name: string): string {
  return name.normalize("NFKD").replace(/\p{M}/gu, "");
}
