import type { Dice } from "./dice.ts";
import type { WorldPorts } from "./world_ports.ts";

/** What they pause: the project, an agent, or the provider of all agents. */
const PAUSED = [
  { kind: "project", name: null },
  { kind: "agent", name: "sim-planner" },
  { kind: "agent", name: "sim-reader" },
  { kind: "provider", name: "sim" },
] as const;

/** Operators that pause and resume work at any moment, in some worlds. */
export class Operators {
  readonly #world: WorldPorts;
  readonly #dice: Dice;
  #isQuiet = false;

  constructor(world: WorldPorts) {
    this.#world = world;
    this.#dice = world.dice("operators");
  }

  start(withinMs: number): void {
    const { scheduler, disturbances } = this.#world;
    const pauses = this.#dice.pick([0, 0, 0, 1, 3]);
    for (let pause = 1; pause <= pauses; pause++) {
      const { kind, name } = this.#dice.pick(PAUSED);
      const running = this.#dice.pick(["finish", "cut"]);
      const atMs = this.#dice.int(0, withinMs / 2);
      const forMs = this.#dice.int(100, withinMs / 2);
      if (!disturbances.happens(`pause ${pause}: ${kind}, ${running}`)) continue;
      scheduler.after(atMs, null, async () => {
        if (this.#isQuiet) return;
        await this.#world.transact(
          "select public.pause_work(p_kind => $1, p_name => $2, p_reason => 'an incident', p_running => $3)",
          [kind, name, running],
          "pause_work",
        );
      });
      scheduler.after(atMs + forMs, null, async () => {
        await this.#world.transact(
          "select public.resume_work(p_kind => $1, p_name => $2)",
          [kind, name],
          "resume_work",
        );
      });
    }
  }

  /** From now on nothing is paused. */
  async quiet(): Promise<void> {
    this.#isQuiet = true;
    await this.#world.transact(
      "select public.resume_work(p_kind => kind, p_name => name) from private.pauses",
      [],
      "resume_work",
    );
  }
}
