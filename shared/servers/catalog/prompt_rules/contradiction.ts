/** A part of a prompt in lower case and the index where it starts. */
export interface Passage {
  readonly text: string;
  readonly index: number;
}

/** Two parts of a prompt that contradict each other. */
export interface Contradiction {
  readonly earlier: Passage;
  readonly later: Passage;
}

/** Instructions in sentences with these words apply only in some cases. */
export const CONDITION =
  /(?<![\p{L}\p{N}])(?:if|when|whenever|unless|otherwise|except|in case|else|where|or)(?![\p{L}\p{N}])/u;
