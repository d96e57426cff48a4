import { isErrorCode } from "../../shared/platform/errors/codes.ts";

const RAISED = /private\.raise_error\('([A-Z_]+)'/g;
const RAISED_DIRECTLY = /raise sqlstate 'PT/;

/**
 * Returns codes that SQL raises but that are not in the list, and errors that SQL raises without
 * `private.raise_error()`, which knows the status of each code.
 */
export function unknownErrorCodes(name: string, sql: string): string[] {
  const unknown = [...sql.matchAll(RAISED)].flatMap(([, code = ""]) =>
    isErrorCode(code) ? [] : [`${name}: ${code} is not in shared/platform/errors/codes.ts`]
  );
  return RAISED_DIRECTLY.test(sql)
    ? [...unknown, `${name}: an error is raised without private.raise_error()`]
    : unknown;
}
