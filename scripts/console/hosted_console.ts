import { join } from "node:path";
import { parseProjectConfig } from "../../console/src/project/project_config.ts";
import { copyFolder } from "../files/copy_folder.ts";
import { CONSOLE_DIST } from "./build_console.ts";
import { CONSOLE_HEADERS, contentSecurityPolicy } from "./content_security_policy.ts";

interface HostedConsole {
  readonly apiUrl: string;
  readonly publishableKey: string;
  /** Where the platform is installed. @default public */
  readonly schema?: string | undefined;
  /** Target folder. Other files in it stay. */
  readonly folder: string;
}

/**
 * Writes the built console with the project's `config.json`, the policy as a `<meta>` element and,
 * for hosts that read it, `_headers`.
 *
 * @throws Error when the key is a secret key or the URL is invalid.
 */
export async function writeHostedConsole(hosted: HostedConsole): Promise<void> {
  const { apiUrl, publishableKey, schema } = parseProjectConfig({
    api_url: hosted.apiUrl,
    publishable_key: hosted.publishableKey,
    schema: hosted.schema,
  });
  const { folder } = hosted;
  await copyFolder(CONSOLE_DIST, folder);
  const config = { api_url: apiUrl, publishable_key: publishableKey, schema };
  await Deno.writeTextFile(join(folder, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
  await Deno.writeTextFile(join(folder, "_headers"), headersFile(apiUrl));
  const page = join(folder, "index.html");
  await Deno.writeTextFile(page, withPolicy(await Deno.readTextFile(page), apiUrl));
}

/** Inserts the policy into the page, before everything that it controls. */
function withPolicy(html: string, apiUrl: string): string {
  const policy = contentSecurityPolicy(apiUrl, { as: "meta" }).replaceAll('"', "&quot;");
  return html.replace(
    '<meta charset="utf-8" />',
    `<meta charset="utf-8" />\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
  );
}

/** Writes `_headers` for Netlify and Cloudflare Pages. */
function headersFile(apiUrl: string): string {
  const headers = {
    "content-security-policy": contentSecurityPolicy(apiUrl, { as: "header" }),
    ...CONSOLE_HEADERS,
  };
  return [
    "/*",
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
    "/assets/*",
    "  cache-control: public, max-age=31536000, immutable",
    "",
  ].join("\n");
}
