/** A script that does not answer a request. Its message names the file, and the line if it can. */
export class ScriptError extends Error {
  override readonly name = "ScriptError";
}

/** The agent of a request has no script. */
export class MissingScript extends Error {
  override readonly name = "MissingScript";
}
