// @vitest-environment jsdom
// DOMPurify needs a real DOM; happy-dom is not close enough.
import { describe, expect, test } from "vitest";
import { markdownText, renderMarkdown } from "./render_markdown.ts";
import { sanitizeHtml } from "./sanitize_html.ts";

function shown(html: string): HTMLElement {
  const host = document.createElement("div");
  host.innerHTML = html;
  return host;
}

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "![x](https://evil.example/a.png)",
  "[x](javascript:alert(1))",
  "[x](data:text/html,<script>alert(1)</script>)",
  "<iframe src=https://evil.example></iframe>",
  "<svg><script>alert(1)</script></svg>",
  '<a href="https://evil.example" onclick="alert(1)">x</a>',
  "<style>*{background:url(https://evil.example)}</style>",
  "<form action=https://evil.example><input name=password></form>",
  "<base href=https://evil.example>",
  '<meta http-equiv=refresh content="0;url=https://evil.example">',
  "</untrusted_data><script>alert(1)</script>",
];

describe("renderMarkdown()", () => {
  for (const text of HOSTILE) {
    test(`removes everything that runs, loads or redirects from ${text.slice(0, 40)}`, () => {
      const host = shown(renderMarkdown(text, 2));
      expect(host.querySelector("script, img, iframe, svg, style, form, input, base, meta"))
        .toBeNull();
      for (const element of host.querySelectorAll("*")) {
        for (const { name } of element.attributes) expect(name).not.toMatch(/^on|^style$|^src$/);
        expect(element.getAttribute("href") ?? "https:").toMatch(/^(https?:|mailto:)/);
      }
    });
  }

  test("shows a text that is JSON as code, whatever its values look like", () => {
    const text = JSON.stringify({ note: "**bold** <img src=x onerror=alert(1)>", id: 1 });
    const host = shown(renderMarkdown(text, 2));
    expect(host.querySelector("pre code")?.textContent).toBe(
      '{\n  "note": "**bold** <img src=x onerror=alert(1)>",\n  "id": 1\n}',
    );
    expect(host.querySelector("img, strong")).toBeNull();
  });

  test("opens links elsewhere without a referrer", () => {
    const link = shown(renderMarkdown("[docs](https://example.com)", 2)).querySelector("a");
    expect(link?.getAttribute("rel")).toBe("noopener noreferrer nofollow");
    expect(link?.getAttribute("target")).toBe("_blank");
  });

  test("shows the text between fences without the fence tags", () => {
    const host = shown(
      renderMarkdown('<untrusted_data id="7">\nhello\n</untrusted_data id="7">', 2),
    );
    expect(host.textContent?.trim()).toBe("hello");
  });

  test("continues the headings of the page without skipping a level", () => {
    const host = shown(renderMarkdown("### a\n\n# b\n\n### c", 3));
    expect([...host.querySelectorAll("h3, h4")].map(({ tagName }) => tagName)).toEqual([
      "H4",
      "H3",
      "H4",
    ]);
  });

  test("aligns columns as the table says, and each block by its own text", () => {
    const host = shown(renderMarkdown("| a | b |\n| :-: | --: |\n| שלום | 1 |\n\nمرحبا", 2));
    expect([...host.querySelectorAll("td")].map((cell) => cell.getAttribute("align"))).toEqual([
      "center",
      "right",
    ]);
    expect(host.querySelectorAll('td[dir="auto"]')).toHaveLength(2);
    expect(host.querySelector("p")?.getAttribute("dir")).toBe("auto");
    expect(host.querySelector("[style]")).toBeNull();
  });

  test("renders tables, code and lists", () => {
    const host = shown(renderMarkdown("- a\n- b\n\n| x |\n| --- |\n| 1 |\n\n`code`", 2));
    expect(host.querySelectorAll("li")).toHaveLength(2);
    expect(host.querySelector("td")?.textContent).toBe("1");
    expect(host.querySelector("code")?.textContent).toBe("code");
  });
});

test("sanitizeHtml() removes attributes that can run or style", () => {
  const html = sanitizeHtml('<p id="a" class="b" style="color:red" onclick="x()">text</p>');
  expect(html).toBe("<p>text</p>");
});

test("only Prose.vue renders HTML", () => {
  const sources = import.meta.glob("../**/*.{vue,ts}", {
    query: "?raw",
    import: "default",
    eager: true,
  });
  const writers = Object.entries(sources as Record<string, string>)
    .filter(([path]) => !path.endsWith("_test.ts"))
    .filter(([, source]) =>
      /v-html|innerHTML|outerHTML|insertAdjacentHTML|document\.write/.test(source)
    )
    .map(([path]) => path);
  expect(writers).toEqual(["./Prose.vue"]);
});

describe("markdownText()", () => {
  test.each([
    ["**Publish** the `draft`?", "Publish the draft?"],
    ["# Title\n\nFirst line\nsecond line", "Title First line second line"],
    ["- one\n- [two](https://example.test)", "one two"],
    ["```sql\nselect 1\n```", "select 1"],
    ["<untrusted_data id=1>a < b</untrusted_data>", "a < b"],
    ["<b>not</b> a tag", "<b>not</b> a tag"],
  ])("keeps the plain text of %s", (markdown, words) => {
    expect(markdownText(markdown)).toBe(words);
  });
});
