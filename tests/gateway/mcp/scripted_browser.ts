import { definedOnly } from "../../../shared/platform/values/defined_only.ts";
/**
 * A browser that keeps cookies, follows redirects and fills in the forms of the authorization
 * server.
 */
export class ScriptedBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /**
   * Opens the address, signs in with the account and consents; stops at the first address below
   * `until`.
   */
  async authorize(address: string, account: string, until: string): Promise<URL> {
    let response = await this.#send(new URL(address));
    let url = new URL(address);
    for (let steps = 0; steps < 20; steps++) {
      const location = response.headers.get("location");
      if (location !== null) {
        await response.body?.cancel();
        url = new URL(location, url);
        if (url.href.startsWith(until)) return url;
        response = await this.#send(url);
        continue;
      }
      const html = await response.text();
      const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1];
      if (action === undefined) throw new Error(`No form at ${url.href}: ${html.slice(0, 500)}`);
      const fields = new URLSearchParams(
        [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
          .map(([, name = "", value = ""]) => [name, value]),
      );
      if (html.includes('name="login"')) {
        fields.set("login", account);
        fields.set("password", "any");
      }
      url = new URL(action, url);
      response = await this.#send(url, fields);
    }
    throw new Error("The authorization server redirects without end");
  }

  async #send(url: URL, form?: URLSearchParams): Promise<Response> {
    const jar = this.#cookies.get(url.host) ?? new Map<string, string>();
    this.#cookies.set(url.host, jar);
    const response = await fetch(url, {
      redirect: "manual",
      method: form === undefined ? "GET" : "POST",
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...definedOnly({ body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === "" || /expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }
}
