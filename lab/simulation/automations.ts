import type { Dice } from "./dice.ts";
import type { WorldPorts } from "./world_ports.ts";

/** Webhooks and schedules of a world. */
export interface AutomationPlan {
  /** Their owners; null is the service. */
  readonly webhooks: readonly (string | null)[];
  readonly schedules: readonly (string | null)[];
}

/** What owners have set up before the world begins, so that it acts by itself. */
export class Automations {
  readonly #world: WorldPorts;
  readonly #plan: AutomationPlan;
  readonly #dice: Dice;

  constructor(world: WorldPorts, plan: AutomationPlan) {
    this.#world = world;
    this.#plan = plan;
    this.#dice = world.dice("automations");
  }

  async start(): Promise<void> {
    const { disturbances } = this.#world;
    const { webhooks, schedules } = this.#plan;
    for (const [index, owner] of webhooks.entries()) {
      const hasAllEvents = this.#dice.chance(0.5);
      if (!disturbances.happens(`webhook${index + 1}`)) continue;
      await this.#world.transact(
        `insert into public.webhooks (created_by, url, events, includes_subtasks)
         values ($1::uuid, 'https://receiver.test/', $2::text[], $3)`,
        [
          owner,
          hasAllEvents
            ? "{task.created,task.started,task.parked,task.completed,task.failed,task.cancelled}"
            : "{task.completed,task.failed,task.cancelled,review.requested}",
          hasAllEvents,
        ],
        "add webhook",
      );
    }
    for (const [index, owner] of schedules.entries()) {
      const overlap = this.#dice.pick(["skip", "queue"]);
      if (!disturbances.happens(`schedule${index + 1}`)) continue;
      await this.#world.transact(
        `insert into public.schedules (created_by, agent, input, cron, overlap)
         values ($1::uuid, 'sim-planner', $2::jsonb, '* * * * *', $3)`,
        [owner, `"scheduled${index + 1}"`, overlap],
        "add schedule",
      );
    }
  }

  /** No schedule runs from now on. */
  async quiet(): Promise<void> {
    if (this.#plan.schedules.length === 0) return;
    await this.#world.transact(
      "update public.schedules set is_active = false",
      [],
      "stop schedules",
    );
  }
}
