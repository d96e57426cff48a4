/** The provider whose models are scripts of the project's files, which the embedded stack serves. */
export const SCRIPTED_PROVIDER = "demo";

/** Header of a request to it: the slug of the agent whose script answers. */
export const SCRIPTED_AGENT_HEADER = "x-supaswarm-agent";
