/** The gateway's interface to the edge function host. */
export interface FunctionPort {
  /** Calls a function. The path still has `/functions/v1`. The host refuses an unknown name. */
  fetch(name: string, request: Request): Promise<Response>;
}

/** The gateway's interface to the Realtime server. */
export interface RealtimePort {
  /** Handles a request under `/realtime/v1/`, including websocket upgrades. */
  fetch(request: Request): Promise<Response>;
}
