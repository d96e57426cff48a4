/** Keywords that start a statement. */
const BEGINNING =
  /^[\s(]*(select|with|insert|update|delete|merge|values|table|create|alter|drop|explain|show|truncate|grant|revoke|do|call|copy|set|begin|commit)\b/i;

/**
 * The SQL in a model's answer: the content of its first fence, otherwise everything from the first
 * line that starts like a statement. Fences and prose are removed once; the parser checks the rest.
 */
export function extractSql(answer: string): string {
  const fenced = /(?:^|\n)\s*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:\n\s*\1|$)/.exec(answer);
  if (fenced?.[2] !== undefined) return fenced[2].trim();
  const lines = answer.split("\n");
  const start = lines.findIndex((line) => BEGINNING.test(line));
  if (start < 0) return answer.trim();
  const text = lines.slice(start).join("\n").trim();
  // Text after the end of the statement and an empty line is an explanation.
  return text.replace(/;\s*\n\s*\n[\s\S]*$/, ";").trim();
}
