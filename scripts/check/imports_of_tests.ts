const IMPORT_OF_TESTS = /\b(?:from|import)\s*\(?\s*["'](?:\.{1,2}\/)+tests\//;

/**
 * Finds imports from `tests/` in a file outside of it. A test beside its source needs only Deno; a
 * test that needs a fixture of `tests/` belongs there.
 */
export function importsOfTests(path: string, source: string): string[] {
  if (path.startsWith("tests/") || !/\.tsx?$/.test(path)) return [];
  return source.split("\n").flatMap((line, index) =>
    IMPORT_OF_TESTS.test(line)
      ? [`${path}:${index + 1} imports from tests/: move the file there, or the fixture out of it`]
      : []
  );
}
