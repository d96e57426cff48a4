/** Words that a statement begins with. */
const BEGINNING =
  /^[\s(]*(select|with|insert|update|delete|merge|values|table|create|alter|drop|explain|show|truncate|grant|revoke|do|call|copy|set|begin|commit)\b/i;

/**
 * The SQL of a model's answer: what stands in its first fence, else the answer from the first line on
 * that begins like a statement. Fences and prose are taken off once; what is left is for the parser
 * to judge.
 */
export function extractSql(answer: string): string {
  const fenced = /(?:^|\n)\s*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:\n\s*\1|$)/.exec(answer);
  if (fenced?.[2] !== undefined) return fenced[2].trim();
  const lines = answer.split("\n");
  const start = lines.findIndex((line) => BEGINNING.test(line));
  if (start < 0) return answer.trim();
  const text = lines.slice(start).join("\n").trim();
  // Words after an empty line behind the statement's end explain it.
  return text.replace(/;\s*\n\s*\n[\s\S]*$/, ";").trim();
}
