import { expect, test } from "vitest";
import { mount } from "@vue/test-utils";
import PictureList from "./PictureList.vue";
import { picturesIn } from "./pictures_in.ts";

const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`;

test("picturesIn() finds images and the chart of format_results, and nothing else", async () => {
  const pictures = picturesIn({
    content: [
      { type: "image", data: btoa("abc"), mimeType: "image/png" },
      { type: "image", data: "not base64", mimeType: "image/png" },
      { type: "image", data: btoa(SVG), mimeType: "text/html" },
      { type: "text", text: SVG },
    ],
    structuredContent: { format: "chart", svg: SVG },
  });
  expect(pictures.map(({ type }) => type)).toEqual(["image/png", "image/svg+xml"]);
  expect(await pictures[1]?.text()).toBe(SVG);
  expect(picturesIn({ content: [], structuredContent: { svg: { not: "text" } } })).toEqual([]);
});

test("a chart becomes an image with a blob's URL, never markup of the page", () => {
  const list = mount(PictureList, {
    props: { pictures: picturesIn({ content: [], structuredContent: { svg: SVG } }) },
  });
  expect(list.findAll("img").map((image) => image.attributes("src")?.slice(0, 5))).toEqual([
    "blob:",
  ]);
  expect(list.html()).not.toContain("<svg");
});
