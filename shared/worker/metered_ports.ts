import type { CpuMeter } from "../isolate/cpu_meter.ts";
import type { TaskPorts } from "./task_ports.ts";

/** Counts the tasks' calls of models and tools. Queries and streams are counted elsewhere. */
export function meteredPorts(ports: TaskPorts, meter: CpuMeter): TaskPorts {
  const { callModel, gateway } = ports;
  const loadedSdks = new Set<string>();
  return {
    ...ports,
    callModel(call) {
      const api = call.context.provider?.api;
      if (api !== undefined && !loadedSdks.has(api)) {
        loadedSdks.add(api);
        meter.charge("modelSdk");
      }
      meter.charge("modelCall");
      return callModel(call);
    },
    gateway: {
      listAgentTools(caller, signal) {
        meter.charge("task");
        return gateway.listAgentTools(caller, signal);
      },
      call(request, signal) {
        meter.charge("toolCall");
        return gateway.call(request, signal);
      },
      relay(request, signal) {
        meter.charge("toolCall");
        return gateway.relay(request, signal);
      },
    },
  };
}
