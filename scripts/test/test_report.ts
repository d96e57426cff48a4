import { loadFastXmlParser } from "../deps.ts";

/** A test or a step as the runner reported it. */
export interface TestCase {
  /** From the root, without `./`. */
  readonly file: string;
  /** The names of a step and of what it is in, separated by ` > `. */
  readonly name: string;
  readonly durationMs: number;
  /** What it threw; null when it passed. */
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

/** Reads the JUnit report of `deno test`, without what was skipped. An empty text has no cases. */
export async function readTestReport(report: string): Promise<TestCase[]> {
  const { XMLParser } = await loadFastXmlParser();
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: "",
    parseTagValue: false,
    isArray: (name) => name === "testsuite" || name === "testcase",
  });
  // The form is that of Deno's own reporter.
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

/** Whether a test failed by itself, rather than by one of its steps. */
export function isOwnFailure({ failure }: TestCase): boolean {
  return failure !== null && !/^\d+ test steps? failed\.?$/.test(failure);
}
