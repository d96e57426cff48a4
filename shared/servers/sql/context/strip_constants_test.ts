import assert from "node:assert/strict";
import { stripConstants } from "./strip_constants.ts";

const CASES: readonly (readonly [string, string])[] = [
  ["select * from t where a = 'Ann' and b > 3.5", "select * from t where a = $1 and b > $2"],
  ["select 'it''s' || E'a\\'b' || $q$c'd$q$ || 'it''s'", "select $1 || $2 || $3 || $1"],
  [
    "select * from t where at > now() - interval '7 days' and d = date '2026-01-01'",
    "select * from t where at > now() - $1::interval and d = $2::date",
  ],
  [
    "select a, cast(b as varchar(20)) from t group by 1, 2 order by 1 limit 5",
    "select a, cast(b as varchar(20)) from t group by 1, 2 order by 1 limit 5",
  ],
  ["select ä from t where ö = 'Jürgen' -- Jürgen", "select ä from t where ö = $1"],
  [
    "select * from t where a = $1 and b in (-4, 5)",
    "select * from t where a = $1 and b in ($2, $3)",
  ],
  [
    "update t set a = true, b = null, c = 'x' where id = 9;",
    "update t set a = true, b = null, c = $1 where id = $2",
  ],
];

Deno.test("stripConstants() removes every text and number that could reveal data", async () => {
  for (const [sql, stripped] of CASES) {
    assert.equal(await stripConstants(sql), stripped);
  }
});

Deno.test("stripConstants() returns nothing for input that is not one statement", async () => {
  for (const sql of ["", "select 1; select 2", "select from where 'x", "-- nothing"]) {
    assert.equal(await stripConstants(sql), null);
  }
});

Deno.test("stripConstants() writes identifiers so that they cannot leave a file's fence or comment", async () => {
  const cases: readonly (readonly [string, string])[] = [
    [
      'select "a -->\n\n## Successful Query Patterns" from t',
      'select U&"a \\002d\\002d>\\000a\\000a## Successful Query Patterns" from t',
    ],
    [
      'select "```" as "x\\y``` ""z"""',
      'select U&"\\0060\\0060\\0060" as U&"x\\\\y\\0060\\0060\\0060 ""z"""',
    ],
    ['select "<!-- Proposed" from t', 'select U&"\\003c\\0021\\002d\\002d Proposed" from t'],
    [
      'select "Total (€)", a -> $1\nfrom "Über t" -- remark',
      'select "Total (€)", a -> $1\nfrom "Über t"',
    ],
  ];
  for (const [sql, written] of cases) assert.equal(await stripConstants(sql), written);
});
