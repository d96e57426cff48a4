import { z } from "../../shared/vendor/zod.js";

/** The CLI's upload of one function. */
export interface Deployment {
  readonly slug: string;
  /** Size of the request's body, which the platform limits. */
  readonly bytes: number;
  /** Paths relative to the project's root. */
  readonly files: readonly string[];
  /** The uploaded files, by path. */
  readonly contents: ReadonlyMap<string, Blob>;
}

/** A fake of Supabase's Management API that stores deployments. */
export interface ManagementApi {
  readonly url: string;
  /** The reference of its project: twenty lowercase letters, as the CLI requires. */
  readonly projectRef: string;
  readonly deployments: readonly Deployment[];
  /** The stored secrets, by name. */
  readonly secrets: ReadonlyMap<string, string>;
  stop(): Promise<void>;
}

const SECRETS = z.array(z.object({ name: z.string(), value: z.string() }));

const PROJECT_REF = "abcdefghijklmnopqrst";

/** Starts the fake API on a free port of 127.0.0.1. */
export function startManagementApi(): ManagementApi {
  const deployments: Deployment[] = [];
  const secrets = new Map<string, string>();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    async (request) => {
      const url = new URL(request.url);
      const route = `${request.method} ${url.pathname.replace(`/v1/projects/${PROJECT_REF}`, "")}`;
      switch (route) {
        case "GET ":
          return Response.json(PROJECT);
        case "GET /functions":
          return Response.json([]);
        case "PUT /functions":
          return Response.json({ functions: [] });
        case "POST /functions/deploy": {
          const slug = url.searchParams.get("slug") ?? "";
          const { headers } = request;
          const body = await request.arrayBuffer();
          const contents = uploadedFiles(await new Response(body, { headers }).formData());
          const files = [...contents.keys()].sort();
          deployments.push({ slug, bytes: body.byteLength, files, contents });
          return Response.json(deployedFunction(slug), { status: 201 });
        }
        case "POST /secrets":
          for (const { name, value } of SECRETS.parse(await request.json())) {
            secrets.set(name, value);
          }
          return Response.json([], { status: 201 });
        default:
          return Response.json({ message: `No such route: ${route}` }, { status: 404 });
      }
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    projectRef: PROJECT_REF,
    deployments,
    secrets,
    stop: () => server.shutdown(),
  };
}

const PROJECT = {
  id: PROJECT_REF,
  ref: PROJECT_REF,
  organization_id: "organisation",
  organization_slug: "organisation",
  name: "supaswarm",
  region: "eu-central-1",
  created_at: "2026-01-01T00:00:00Z",
  status: "ACTIVE_HEALTHY",
  database: { host: "db", version: "17", postgres_engine: "17", release_channel: "ga" },
};

function uploadedFiles(form: FormData): Map<string, Blob> {
  return new Map(
    form.getAll("file").flatMap((part) => part instanceof File ? [[part.name, part]] : []),
  );
}

function deployedFunction(slug: string) {
  return {
    id: slug,
    slug,
    name: slug,
    status: "ACTIVE",
    version: 1,
    created_at: 1,
    updated_at: 1,
  };
}
