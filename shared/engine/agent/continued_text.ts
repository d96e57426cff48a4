/** Fewer characters are the same by chance. */
const MIN_REPEATED_CHARS = 8;
const MAX_REPEATED_CHARS = 500;

/**
 * The rest of a text without what it repeats of the end: models often begin again a few words before
 * the cut. A text that repeats itself stays as it is, because there it is not clear what is too much.
 *
 * @param before The text before the cut.
 */
export function withoutRepetition(before: string, rest: string): string {
  const most = Math.min(MAX_REPEATED_CHARS, before.length, rest.length);
  for (let length = most; length >= MIN_REPEATED_CHARS; length--) {
    const start = rest.slice(0, length);
    if (!before.endsWith(start)) continue;
    return before.indexOf(start) === before.length - length ? rest.slice(length) : rest;
  }
  return rest;
}

/** The rest of a text as it streams in. */
export interface ContinuedStream {
  push(piece: string): void;
  /** The text starts again. */
  restart(): void;
  /** Passes on what was held back. */
  end(): void;
}

/** Passes on a text that continues another one as {@linkcode withoutRepetition} does. */
export function createContinuedStream(
  before: string,
  emit: (text: string) => void,
): ContinuedStream {
  const end = before.slice(-MAX_REPEATED_CHARS);
  /** Null when it is clear that nothing more is repeated. */
  let held: string | null = "";
  const release = () => {
    const text = withoutRepetition(before, held ?? "");
    held = null;
    if (text !== "") emit(text);
  };
  return {
    push(piece) {
      if (held === null) return emit(piece);
      held += piece;
      if (!end.includes(held)) release();
    },
    restart() {
      held = "";
    },
    end: release,
  };
}
