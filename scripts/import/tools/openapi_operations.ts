import { listOf, type Part, partOf, resolved, textOf } from "./openapi_parts.ts";

/** An operation of a document. */
export interface Operation {
  readonly method: string;
  /** Without a fragment, such as `/pets/{id}`. */
  readonly path: string;
  /** As the document names it; empty if it does not. */
  readonly id: string;
  /** Those of the path and its own, resolved. */
  readonly parameters: readonly Part[];
  readonly part: Part;
  /** The servers that apply to it. */
  readonly servers: readonly unknown[];
}

const METHODS = ["get", "head", "post", "put", "patch", "delete"];

/** All operations of a document that a tool can be, in its order. */
export function operationsOf(document: Part): Operation[] {
  return Object.entries(partOf(document.paths)).flatMap(([key, value]) => {
    const item = resolved(document, value);
    return METHODS.filter((method) => Object.keys(partOf(item[method])).length > 0).map(
      (method) => {
        const part = partOf(item[method]);
        return {
          method: method.toUpperCase(),
          path: key.replace(/#.*$/, "").trim(),
          id: textOf(part.operationId),
          parameters: merged(document, listOf(item.parameters), listOf(part.parameters)),
          part,
          servers: [part.servers, item.servers, document.servers].map(listOf)
            .find((list) => list.length > 0) ?? [],
        };
      },
    );
  });
}

/** The path's parameters, replaced by the operation's own of the same name and place. */
function merged(document: Part, ...lists: readonly (readonly unknown[])[]): Part[] {
  const byPlace = new Map<string, Part>();
  for (const value of lists.flat()) {
    const parameter = resolved(document, value);
    byPlace.set(JSON.stringify([parameter.in, parameter.name]), parameter);
  }
  return [...byPlace.values()];
}

/** How an operation is named in messages and options. */
export function operationName({ id, method, path }: Operation): string {
  return id || `${method} ${path}`;
}

/** Whether a pattern names an operation: its id, or its method and path; `*` stands for any text. */
export function isNamed(operation: Operation, pattern: string): boolean {
  const { id, method, path } = operation;
  const text = pattern.trim().toLowerCase().replaceAll(/\s+/g, " ");
  const parts = text.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const regex = new RegExp(`^${parts.join(".*")}$`);
  return [id, `${method} ${path}`, path].some((name) =>
    name !== "" && regex.test(name.toLowerCase())
  );
}
