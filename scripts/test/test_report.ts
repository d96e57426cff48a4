import { loadFastXmlParser } from "../deps.ts";

/** A test or a step in the report. */
export interface TestCase {
  /** Path from the root, without `./`. */
  readonly file: string;
  /** The name of a test, or of a step after its parents, separated by ` > `. */
  readonly name: string;
  readonly durationMs: number;
  /** The error; null when it passed. */
  readonly failure: string | null;
}

interface Suites {
  readonly testsuites?: { readonly testsuite?: readonly Suite[] };
}

interface Suite {
  readonly testcase?: readonly Case[];
}

interface Case {
  readonly name: string;
  readonly classname: string;
  readonly time: string;
  readonly skipped?: unknown;
  readonly failure?: { readonly "#text"?: string } | string;
}

/** Parses the JUnit report of `deno test` without skipped tests. An empty text has no cases. */
export async function readTestReport(report: string): Promise<TestCase[]> {
  const { XMLParser } = await loadFastXmlParser();
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: "",
    parseTagValue: false,
    isArray: (name) => name === "testsuite" || name === "testcase",
  });
  // The format is that of Deno's reporter.
  const { testsuites } = parser.parse(report) as Suites;
  return (testsuites?.testsuite ?? []).flatMap(({ testcase = [] }) => testcase)
    .filter(({ skipped }) => skipped === undefined)
    .map(({ name, classname, time, failure }) => ({
      file: classname.replace(/^\.\//, ""),
      name,
      durationMs: Number(time) * 1_000,
      failure: textOf(failure),
    }));
}

function textOf(failure: Case["failure"]): string | null {
  if (failure === undefined) return null;
  return typeof failure === "string" ? failure : failure["#text"] ?? "";
}

/** Whether a test itself failed, rather than one of its steps. */
export function isOwnFailure({ failure }: TestCase): boolean {
  return failure !== null && !/^\d+ test steps? failed\.?$/.test(failure);
}
