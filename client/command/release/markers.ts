/** What a release has instead of the names that a project can choose. */
export const MARKERS = {
  public: "__supaswarm_public__",
  private: "__supaswarm_private__",
  exposed: "__supaswarm_exposed__",
} as const;

/** The marker of an edge function's name. */
export function functionMarker(name: string): string {
  return `__supaswarm_function_${name.replaceAll("-", "_")}__`;
}
