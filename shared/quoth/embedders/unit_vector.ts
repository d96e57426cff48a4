/** The vector with length 1 in its direction; null when it has none (all zeros, or not finite). */
export function toUnitVector(vector: readonly number[]): number[] | null {
  const length = Math.hypot(...vector);
  return Number.isFinite(length) && length > 0 ? vector.map((value) => value / length) : null;
}
