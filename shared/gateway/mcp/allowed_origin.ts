import { SwarmError } from "../../platform/errors/swarm_error.ts";

/** The pages that may call the endpoint. */
export interface OriginPolicy {
  /** URL of the project, whose own pages are allowed. */
  readonly projectUrl: string;
  /** URL of the project as browsers reach it, such as a tunnel's. @default `projectUrl` */
  readonly publicUrl?: string;
  /** Further allowed origins, as browsers write them. */
  readonly allowedOrigins: readonly string[];
}

const LOOPBACK_HOST = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Rejects pages of other origins, which could otherwise act through a visitor's browser. A request
 * without an origin does not come from a page. On a local project the request's host must be
 * loopback too: another name there is DNS rebinding.
 *
 * @throws FORBIDDEN
 */
export function assertOriginAllowed(request: Request, policy: OriginPolicy): void {
  const { host, hostname } = new URL(request.url);
  const isLocal = isLoopback(new URL(policy.projectUrl).hostname);
  if (isLocal && !isLoopback(hostname) && hostname !== publicUrlOf(policy).hostname) {
    throw new SwarmError(
      "FORBIDDEN",
      `Cannot serve the host ${host}: this is a local project`,
      {
        hint: `Send the request to ${policy.projectUrl}.`,
      },
    );
  }
  const origin = request.headers.get("origin");
  if (origin === null || isOriginAllowed(origin, policy)) return;
  throw new SwarmError(
    "FORBIDDEN",
    `Cannot serve the request: the origin ${origin} is not allowed`,
    {
      hint: "Add the origin to SUPASWARM_ALLOWED_ORIGINS.",
    },
  );
}

/** Whether an origin is loopback, the project's own, or one that the operator named. */
export function isOriginAllowed(origin: string, policy: OriginPolicy): boolean {
  if (!URL.canParse(origin)) return false;
  return isLoopback(new URL(origin).hostname) ||
    [new URL(policy.projectUrl).origin, publicUrlOf(policy).origin].includes(origin) ||
    policy.allowedOrigins.includes(origin);
}

function publicUrlOf({ projectUrl, publicUrl = projectUrl }: OriginPolicy): URL {
  return new URL(publicUrl);
}

function isLoopback(hostname: string): boolean {
  return LOOPBACK_HOST.test(hostname);
}
