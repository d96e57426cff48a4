/** A reason why a command stops, with what to do next. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  /** A stable code such as `TREE_DIRTY`. */
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}
