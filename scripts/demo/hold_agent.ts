import type { ModelServer } from "../models/model_server.ts";
import type { ScriptedAgent } from "../models/scripted_agent.ts";

/**
 * Makes the scripted answers of an agent wait until the returned object is disposed, so that what
 * the demo does meanwhile does not depend on the speed of the machine. Real models are unaffected.
 */
export function holdAgent(models: Pick<ModelServer, "addAgent">, agent: ScriptedAgent): Disposable {
  const released = Promise.withResolvers<void>();
  let isHeld = true;
  models.addAgent({
    name: agent.name,
    plays: (request) => isHeld && agent.plays(request),
    answer: async (request) => {
      await released.promise;
      return await agent.answer(request);
    },
  });
  return {
    [Symbol.dispose]() {
      isHeld = false;
      released.resolve();
    },
  };
}
