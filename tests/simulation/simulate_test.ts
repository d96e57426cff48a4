import assert from "node:assert/strict";
import { runScript } from "../run_script.ts";

/** Every start brings some new worlds; the fixed ones are the same everywhere. */
const FIXED_SEEDS = "1..5";
const RANDOM_MINUTES = "0.03";

/** Seeds of broken worlds. The first one has few faults, so its trace is found soon. */
const BROKEN_SEEDS = "12..31";

/** Tasks that leave their messages in the queue when they wait no more. */
const FORGETFUL_QUEUE = `
  do $mutant$
  declare
    v_text text := pg_get_functiondef('private.follow_waiting_task()'::regprocedure);
    v_part constant text := 'tg_op <> ''INSERT''';
  begin
    assert position(v_part in v_text) > 0;
    execute replace(v_text, v_part, 'tg_op = ''DELETE''');
  end $mutant$;`;

Deno.test("the fixed worlds violate no invariant and repeat exactly, nor do new random ones", async () => {
  const { code, stdout, stderr } = await runScript("lab/simulation/simulate.ts", [
    ...["--seeds", FIXED_SEEDS, "--minutes", RANDOM_MINUTES, "--twice", "--json"],
  ]);
  assert.equal(stderr, "");
  const { failed, seeds } = JSON.parse(stdout);
  // The message names the seed: deno task simulate --seed N --trace.
  assert.deepEqual(failed, []);
  assert.equal(code, 0);
  assert.ok(seeds >= 5);
});

Deno.test("a broken engine is noticed, and its trace ends with what is violated", async () => {
  const mutant = await Deno.makeTempFile({ suffix: ".sql" });
  try {
    await Deno.writeTextFile(mutant, FORGETFUL_QUEUE);
    const { code, stdout } = await runScript("lab/simulation/simulate.ts", [
      ...["--seeds", BROKEN_SEEDS, "--mutant", mutant, "--json"],
    ]);
    assert.equal(code, 1);
    const { failed: [found] } = JSON.parse(stdout);
    assert.match(found.violations[0], /^a message has a pending task: /);
    assert.match(found.trace.at(-1), /VIOLATED: a message has a pending task/);
    assert.match(found.trace[0], /client +request_task/);
  } finally {
    await Deno.remove(mutant);
  }
});
