import { ERROR_CODES, isErrorCode } from "../../shared/errors/codes.ts";

const RAISED = /raise sqlstate 'PT(\d{3})' using([\s\S]*?);\n/g;

/** Returns codes that SQL raises but that are not in the list, or have another status there. */
export function unknownErrorCodes(name: string, sql: string): string[] {
  return [...sql.matchAll(RAISED)].flatMap(([, status, options = ""]) => {
    const code = options.match(/detail = '([A-Z_]+)'/)?.[1];
    if (code === undefined) return [`${name}: an error is raised without a code in its detail`];
    if (!isErrorCode(code)) return [`${name}: ${code} is not in shared/errors/codes.ts`];
    return ERROR_CODES[code].status === Number(status)
      ? []
      : [`${name}: ${code} is raised with ${status}, listed with ${ERROR_CODES[code].status}`];
  });
}
