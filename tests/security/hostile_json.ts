const MIB = 1_048_576;

const repeated = (count: number, item: string) => Array.from({ length: count }, () => item).join();
const numbered = (count: number, value: string) =>
  Array.from({ length: count }, (_, number) => `"k${number}":${value}`).join();

/** Texts of 4 MB that are searched for secrets in every encoding; none of them contains one. */
export const ESCAPED_TEXTS: Readonly<Record<string, string>> = {
  "percent escapes": "%61".repeat(1_300_000),
  "percent escapes of percent escapes": "%252561".repeat(570_000),
  "backslashes": "\\".repeat(4_000_000),
  "unicode escapes": "\\u0061".repeat(660_000),
  "entities": "&#97;".repeat(800_000),
  "entities of entities": "&amp;".repeat(800_000),
  "hexadecimal digits": "73 6b ".repeat(660_000),
  "lines of base64": `${"c2st".repeat(19)}\n`.repeat(51_000),
  "the beginnings of a secret": "sk-a-credential-of-this-tes".repeat(148_000),
  "secrets": "sk-a-credential-of-this-test,".repeat(137_000),
};

/** JSON texts that are designed to be slow, as values; most of them are valid. */
export const HOSTILE_VALUES: Readonly<Record<string, string>> = {
  "brackets without end": "[".repeat(4 * MIB),
  "objects without end": '{"a":'.repeat(800_000),
  "brackets to the limit": "[".repeat(60) + "]".repeat(60),
  "200,000 members": `{${numbered(200_000, "1")}}`,
  "members to the limit": `{${numbered(19_000, '"a"')}}`,
  "400,000 items": `[${repeated(400_000, "1")}]`,
  "items to the limit": `[${repeated(49_000, "1")}]`,
  "objects with one name each": `[${
    Array.from({ length: 19_000 }, (_, number) => `{"k${number}":1}`).join()
  }]`,
  "objects of one form": `[${repeated(19_000, '{"a":"wrong"}')}]`,
  "lists in lists": `[${repeated(20_000, "[1]")}]`,
  "empty objects": `[${repeated(49_000, "{}")}]`,
  "one letter": `"${"a".repeat(900_000)}"`,
  "one letter with signs": `"${"a@".repeat(450_000)}"`,
  "a number of a million digits": "1".repeat(900_000),
  "escaped quotes": `"${'\\"'.repeat(450_000)}"`,
  "escaped letters": `"${"\\u0061".repeat(150_000)}"`,
  "halves of surrogate pairs": `"${"\\ud800".repeat(150_000)}"`,
  "half a pair as a name": '{"\\ud800":1}',
  "one name repeated": `{${repeated(200_000, '"a":1')}}`,
  "prototypes": `{${repeated(10_000, '"__proto__":{"x":1},"constructor":1')}}`,
  "a name of a megabyte": `{"${"n".repeat(900_000)}":1}`,
  "percent signs": `"${"%25".repeat(300_000)}"`,
  "backslashes": `"${"\\\\".repeat(450_000)}"`,
};
