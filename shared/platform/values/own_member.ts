/**
 * A member by a name that comes from outside; undefined if there is none. Without this, names such
 * as `constructor` and `__proto__` are members of every object.
 */
export function ownMember<T>(members: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}
