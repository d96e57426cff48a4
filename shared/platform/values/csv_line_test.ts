import assert from "node:assert/strict";
import { csvLine } from "./csv_line.ts";

Deno.test("csvLine() quotes texts, doubles quotes, keeps line breaks and ends with CRLF", () => {
  assert.equal(
    csvLine(["a", 'say "hi", you', "two\r\nlines", 7, true, null]),
    '"a","say ""hi"", you","two\r\nlines",7,true,\r\n',
  );
});

Deno.test("csvLine() encodes non-string values as JSON", () => {
  assert.equal(csvLine([{ sql: "select 1" }, ["a"]]), '"{""sql"":""select 1""}","[""a""]"\r\n');
});

Deno.test("csvLine() escapes cells that a spreadsheet would run", () => {
  for (const text of ["=1+1", "+1", "-1+1", "@SUM(A1)", " =1", "\t=1", "\rx", "＝1", "\n=1"]) {
    assert.equal(csvLine([text]), `"'${text}"\r\n`);
  }
  assert.equal(csvLine(["\u0000\u200b=1+1"]), '"\'\u0000\u200b=1+1"\r\n');
  assert.equal(csvLine(["a=1", -1, "-1.50", ""]), '"a=1",-1,"-1.50",""\r\n');
});
