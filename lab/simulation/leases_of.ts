const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The leases that a statement of a worker names, as JSON `{task: [epochs]}`, or null: a task and its
 * epoch as the first values, or a list of both.
 */
export function leasesOf(values: readonly unknown[]): string | null {
  const [first, second] = values;
  if (typeof first === "string" && UUID.test(first) && /^\d+$/.test(String(second))) {
    return JSON.stringify({ [first]: [Number(second)] });
  }
  const list = values.find((value) => typeof value === "string" && value.startsWith('[{"id":'));
  if (list === undefined) return null;
  const leases: Record<string, number[]> = {};
  for (const { id, epoch, held_epoch } of JSON.parse(String(list))) {
    (leases[id] ??= []).push(Number(held_epoch ?? epoch));
  }
  return JSON.stringify(leases);
}
