import { expect, test } from "vitest";
import { mount } from "@vue/test-utils";
import MCPHeader from "./MCPHeader.vue";

test("a server that only others have called is not said to be unused", () => {
  const statusOf = (status: string) =>
    mount(MCPHeader, { props: { name: "notes", status } }).get(".chip").text();

  // The status is that of the user's own connection.
  expect(statusOf("unknown")).toBe("not used by you yet");
  expect(statusOf("healthy")).toBe("healthy");
});
