/**
 * The path of a member: `$.filter` and `from` → `$.filter.from`; a number selects an array's item.
 */
export function joinPath(path: string, segment: string): string {
  if (/^\d+$/.test(segment)) return `${path}[${segment}]`;
  const isPlain = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(segment);
  return isPlain ? `${path}.${segment}` : `${path}[${JSON.stringify(segment)}]`;
}
