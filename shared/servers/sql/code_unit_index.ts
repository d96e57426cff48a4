/** The index, in UTF-16 code units, after so many characters as PostgreSQL counts them. */
export function codeUnitIndex(text: string, characters: number): number {
  return [...text].slice(0, Math.max(0, characters)).join("").length;
}
