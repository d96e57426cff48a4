/** Longest result that is never shortened. */
const MAX_WHOLE_CHARS = 1_500;
const HEAD_CHARS = 800;
const TAIL_CHARS = 400;

/** An old result without its middle part, which `recall_result` can read again. */
export function shortenResult(text: string, seq: number): string {
  if (text.length <= MAX_WHOLE_CHARS) return text;
  const left = text.length - HEAD_CHARS - TAIL_CHARS;
  const note = `[${left} characters omitted; recall_result {"step": ${seq}} reads them again]`;
  return `${text.slice(0, HEAD_CHARS)}\n${note}\n${text.slice(-TAIL_CHARS)}`;
}
