import { plannerAgent } from "./planner_agent.ts";
import { readerAgent } from "./reader_agent.ts";
import type { ScriptedAgent } from "./scripted_agent.ts";
import { writerAgent } from "./writer_agent.ts";

/** The seeded agents of the provider `demo`, which scripts play without a model. */
export const DEMO_AGENTS: readonly ScriptedAgent[] = [plannerAgent, readerAgent, writerAgent];
