import DOMPurify from "dompurify";

const ALLOWED_TAGS = [
  "a",
  "b",
  "blockquote",
  "br",
  "code",
  "del",
  "em",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "hr",
  "i",
  "li",
  "ol",
  "p",
  "pre",
  "s",
  "strong",
  "sub",
  "sup",
  "table",
  "tbody",
  "td",
  "th",
  "thead",
  "tr",
  "ul",
];
const ALLOWED_ATTRIBUTES = ["href", "title", "start", "align"];
/** Nothing but pages that a reader opens: no script, no data, no address of this origin's code. */
const ALLOWED_ADDRESS = /^(?:https?:|mailto:)/i;

const purifier = DOMPurify(window);
purifier.addHook("afterSanitizeAttributes", (element) => {
  if (element.tagName !== "A") return;
  element.setAttribute("rel", "noopener noreferrer nofollow");
  element.setAttribute("target", "_blank");
});

/**
 * HTML that holds text and links alone: nothing that runs, loads or leads away by itself. Images
 * are left out, because loading one tells its server who reads. Where the browser has Trusted Types
 * the result is a `TrustedHTML`, which Vue hands on as it is.
 */
export function sanitizeHtml(html: string): string {
  return purifier.sanitize(html, {
    ALLOWED_TAGS,
    ALLOWED_ATTR: ALLOWED_ATTRIBUTES,
    ALLOWED_URI_REGEXP: ALLOWED_ADDRESS,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_TRUSTED_TYPE: "trustedTypes" in window,
  } as never) as unknown as string;
}
