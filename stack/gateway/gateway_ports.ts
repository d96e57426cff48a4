/** What the gateway needs of the edge function host. */
export interface FunctionPort {
  /** Calls a function; the path still carries `/functions/v1`. An unknown name is its refusal. */
  fetch(name: string, request: Request): Promise<Response>;
}

/** What the gateway needs of the Realtime server. */
export interface RealtimePort {
  /** Answers a request under `/realtime/v1/`, websocket upgrades included. */
  fetch(request: Request): Promise<Response>;
}
