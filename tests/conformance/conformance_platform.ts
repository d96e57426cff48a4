import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { chooseTestDatabase } from "../../scripts/test/test_database.ts";
import { bootPlatform } from "../e2e/platform.ts";
import { copyProject } from "../e2e/project_copy.ts";
import { type CredentialFront, startCredentialFront } from "./credential_front.ts";

/** A platform that serves the suite's fixture to callers without credentials. */
export interface ConformancePlatform extends AsyncDisposable {
  /** The fixture, an internal server of the platform. */
  readonly directUrl: string;
  /** The same endpoint again, registered as an external server. */
  readonly proxiedUrl: string;
}

const FIXTURE_FOLDER = "tests/conformance/fixture";
const SECRET_NAME = "CONFORMANCE_KEY";

/** Registers the copied fixture as an internal server there. */
const SERVER_MODULE =
  'export { conformanceServer } from "../../../tests/conformance/fixture/server.ts";\n';

/**
 * Boots a copy of this project with the fixture in `shared/servers/conformance`, so that the
 * suite tests the product's own edge function, gateway and wrapper.
 */
export async function bootConformancePlatform(): Promise<ConformancePlatform> {
  await using opening = new AsyncDisposableStack();
  const copy = opening.use(await copyProject({}));
  await mountFixture(copy.root);
  const { stack, sql } = opening.use(
    await bootPlatform({ projectRoot: copy.root, db: await chooseTestDatabase(undefined) }),
  );
  const endpoint = `${stack.apiUrl}/functions/v1/mcp`;
  await sql`select vault.create_secret(${stack.secretKey}, ${SECRET_NAME})`;
  await sql`
    insert into public.tools (name, slug, type, config, credential_secret_name, credential_type)
    values (
      'Proxied', 'proxied', 'mcp_server',
      ${
    sql.json({
      mcp_url: `${endpoint}/conformance`,
      auth: { in: "header", name: "apikey" },
    })
  },
      ${SECRET_NAME}, 'api_key'
    )`;
  const front: CredentialFront = opening.use(
    await startCredentialFront(stack.apiUrl, { apikey: stack.secretKey }),
  );
  const opened = opening.move();
  return {
    directUrl: `${front.url}/functions/v1/mcp/conformance`,
    proxiedUrl: `${front.url}/functions/v1/mcp/proxied`,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function mountFixture(root: string): Promise<void> {
  const folder = join(root, FIXTURE_FOLDER);
  await Deno.mkdir(folder, { recursive: true });
  for await (const { name } of Deno.readDir(join(PROJECT_ROOT, FIXTURE_FOLDER))) {
    await Deno.copyFile(join(PROJECT_ROOT, FIXTURE_FOLDER, name), join(folder, name));
  }
  const server = join(root, "shared/servers/conformance");
  await Deno.mkdir(server);
  await Deno.writeTextFile(join(server, "server.ts"), SERVER_MODULE);

  const generator = "scripts/generate_internal_servers.ts";
  await Deno.mkdir(join(root, "scripts"));
  await Deno.copyFile(join(PROJECT_ROOT, generator), join(root, generator));
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", generator],
    cwd: root,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
