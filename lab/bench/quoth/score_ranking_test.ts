import assert from "node:assert/strict";
import { scoreRanking } from "./score_ranking.ts";

const hit = (file: string, startLine = 1, endLine = 9) => ({ file, startLine, endLine });

Deno.test("a ranking is scored by file without the excluded files", () => {
  const score = scoreRanking([hit("asker"), hit("x"), hit("x", 10, 19), hit("a")], {
    files: new Set(["a"]),
    excluded: new Set(["asker"]),
    section: null,
  });

  assert.equal(score.ndcgAt10, 1 / Math.log2(3));
  assert.equal(score.mrrAt10, 0.5);
  assert.equal(score.recallAt5, 1);
  assert.equal(score.sectionHitAt5, null);
});

Deno.test("the right file with other lines does not count as a section hit", () => {
  const judgment = {
    files: new Set(["a"]),
    excluded: new Set<string>(),
    section: { file: "a", range: { startLine: 20, endLine: 30 } },
  };

  assert.equal(scoreRanking([hit("a", 1, 19)], judgment).sectionHitAt5, 0);
  assert.equal(scoreRanking([hit("a", 1, 19), hit("a", 30, 40)], judgment).sectionHitAt5, 1);
});
