/** The vector scaled to length 1; null if it has no direction (all zeros, or not finite). */
export function toUnitVector(vector: readonly number[]): number[] | null {
  const length = Math.hypot(...vector);
  return Number.isFinite(length) && length > 0 ? vector.map((value) => value / length) : null;
}
