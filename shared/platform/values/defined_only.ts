/** `T` with optional members instead of members that may be undefined. */
export type DefinedOnly<T> =
  & { readonly [Name in RequiredNames<T>]: T[Name] }
  & { readonly [Name in Exclude<keyof T, RequiredNames<T>>]?: Exclude<T[Name], undefined> };

type RequiredNames<T> = {
  [Name in keyof T]-?: undefined extends T[Name] ? never : Name;
}[keyof T];

/**
 * The object without its undefined members, for types whose optional members may be absent but not
 * undefined.
 *
 * @example
 * ```ts
 * import { definedOnly } from "./defined_only.ts";
 *
 * const hint: string | undefined = undefined;
 * const error: { code: string; hint?: string } = { code: "INTERNAL", ...definedOnly({ hint }) };
 * ```
 */
export function definedOnly<T extends object>(members: T): DefinedOnly<T> {
  const defined = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as DefinedOnly<T>;
}
