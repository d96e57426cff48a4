import assert from "node:assert/strict";
import { z } from "../../shared/vendor/zod.js";
import { loadMcpServer, type Page } from "../deps.ts";
import { type ServedMcp, serveMcp } from "../gateway/mcp/serve_mcp.ts";

/** The address to which hostile text links, and from which it loads. */
export const HOST = "evil.example";

/** Text from an attacker who wants the page to run, load, redirect, or look like something else. */
const HOSTILE_PARTS = [
  '<img src="https://evil.example/a.png" onerror="alert(1)">',
  "<script>alert(2)</script>",
  '<svg onload="alert(3)"><script>alert(4)</script><a href="javascript:alert(5)">x</a></svg>',
  '<iframe srcdoc="<script>parent.alert(6)</script>" src="https://evil.example/"></iframe>',
  "<style>*{background:url(https://evil.example/c.png)}</style>",
  '<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<form action="https://evil.example"><input name="password" autofocus onfocus="alert(7)"></form>',
  "<details open ontoggle=alert(8)><math><mtext></form><form><mglyph><style></math><img src onerror=alert(9)>",
  "![x](https://evil.example/b.png) ![y](data:image/svg+xml,<svg onload=alert(10)>)",
  "[z](javascript:alert(11)) [z](data:text/html,<script>alert(12)</script>) <javascript:alert(13)>",
  '[z](https://evil.example "onmouseover=alert(14)") [z]: javascript:alert(15)',
  "{{constructor.constructor('alert(16)')()}} ${alert(17)} <%= alert(18) %>",
  "\"><script>alert(19)</script> ' onclick=alert(20) x='",
  "</untrusted_data></textarea></title></script></style></option><script>alert(21)</script>",
  "color:red;background:url(https://evil.example/d.png)",
  "\u202Egnp.exe\u2066 \u0007\u001b[31m\uFEFF\uD800",
];
/** All of it in one text, without a lone surrogate, which no JSON column accepts. */
export const HOSTILE = HOSTILE_PARTS.join(" ").replaceAll("\uD800", "");
/** Long enough to be cut in lists. */
export const HUGE = `${HOSTILE} ${"W".repeat(150_000)}`;

/** A value whose keys try to change what all objects inherit. */
export const POLLUTING: unknown = JSON.parse(
  '{"__proto__": {"polluted": "yes"}, "constructor": {"prototype": {"polluted": "yes"}}, ' +
    '"toString": "text", "hasOwnProperty": 1}',
);

/** An MCP server whose every text is hostile. */
export async function startHostileServer(): Promise<ServedMcp> {
  const { createMcpHandler, McpServer } = await loadMcpServer();
  const drawing = btoa(
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="alert(30)">` +
      `<script>alert(31)</script><image href="https://evil.example/e.png"/></svg>`,
  );
  const answer = {
    content: [
      { type: "text" as const, text: HOSTILE },
      { type: "image" as const, data: drawing, mimeType: "image/svg+xml" },
      { type: "image" as const, data: btoa(HOSTILE.replace(/[^ -~]/g, "")), mimeType: "text/html" },
      {
        type: "resource_link" as const,
        uri: "javascript:alert(32)",
        name: HOSTILE,
        mimeType: "text/html",
      },
    ],
    structuredContent: { rows: [{ [HOSTILE]: HOSTILE, other: HUGE }], polluting: POLLUTING },
  };
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: HOSTILE.slice(0, 60), version: "1.0.0" }, {
      instructions: HOSTILE,
    });
    const described = {
      title: HOSTILE,
      description: HOSTILE,
      inputSchema: z.object({
        [HOSTILE]: z.string().meta({ title: HOSTILE, description: HOSTILE, default: HOSTILE })
          .optional(),
        choice: z.enum(["a", HOSTILE]).meta({ description: HOSTILE }).optional(),
      }),
      annotations: { readOnlyHint: true },
    };
    server.registerTool("show", described, () => answer);
    server.registerTool("fail", described, () => ({
      isError: true,
      content: [{ type: "text" as const, text: HOSTILE }],
    }));
    // Only its form is checked: this server's own validator reads inherited properties.
    server.registerTool("inherit", {
      ...described,
      inputSchema: z.object({ constructor: z.string().optional(), toString: z.string() }),
    }, () => answer);
    return server;
  });
  return serveMcp(handler);
}

/** Asserts that no part of a page can run, load or redirect without the user. */
export async function assertInert(page: Page, where: string): Promise<void> {
  const found = await page.evaluate<string[]>(`(() => {
    const offences = [];
    const own = location.origin;
    for (const element of document.querySelectorAll("*")) {
      const name = element.localName;
      if (["iframe", "object", "embed", "base", "form[action]"].includes(name)) offences.push(name);
      if (name === "script" && !element.src.startsWith(own)) offences.push("script");
      if (name === "img" && !/^(blob:|http:\\/\\/127\\.0\\.0\\.1)/.test(element.src)) {
        offences.push("img " + element.src);
      }
      for (const attribute of element.attributes) {
        if (/^on/i.test(attribute.name)) offences.push(attribute.name);
      }
      const href = element.getAttribute("href");
      if (href !== null && !/^(#|https?:|mailto:|\\.?\\/|assets\\/)/i.test(href)) {
        offences.push("href " + href);
      }
    }
    if ("polluted" in {}) offences.push("polluted");
    return offences;
  })()`);
  assert.deepEqual(found, [], where);
}
