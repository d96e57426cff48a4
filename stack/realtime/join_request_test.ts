import { deepEqual, equal, ok } from "node:assert/strict";
import { parseBroadcastPush, parseJoinRequest, parsePresencePush } from "./join_request.ts";

Deno.test("a join without a config is public, without acknowledgements and with presence", () => {
  const request = parseJoinRequest({});

  ok(request);
  deepEqual(
    [request.isPrivate, request.isAcknowledged, request.isSelfReceiver, request.isPresenceEnabled],
    [false, false, false, true],
  );
  deepEqual([request.changes, request.replay, request.token], [[], null, null]);
});

Deno.test("presence is off only when the client disables it", () => {
  const enabled = [{ enabled: false }, { enabled: true }, { key: "k" }].map((presence) =>
    parseJoinRequest({ config: { presence } })?.isPresenceEnabled
  );

  deepEqual(enabled, [false, true, true]);
});

Deno.test("an empty presence key is replaced with a generated one", () => {
  const keys = ["", "ada"].map((key) =>
    parseJoinRequest({ config: { presence: { key } } })?.presenceKey
  );

  ok(keys[0]);
  equal(keys[1], "ada");
});

Deno.test("change bindings keep all fields for the reply", () => {
  const binding = { event: "*", schema: "public", table: "t", filter: "id=eq.1", extra: 1 };

  deepEqual(
    parseJoinRequest({ config: { postgres_changes: [binding, null] } })?.changes,
    [binding],
  );
});

Deno.test("a malformed join, broadcast or presence push is read as null", () => {
  equal(parseJoinRequest({ config: "x" }), null);
  equal(parseBroadcastPush({ payload: {} }), null);
  equal(parsePresencePush({ event: "track", payload: "x" }), null);
  deepEqual(parsePresencePush({ event: "TRACK", payload: { a: 1 } }), {
    event: "track",
    payload: { a: 1 },
  });
});
