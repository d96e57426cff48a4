import assert from "node:assert/strict";
import { UserTurns } from "./user_turns.ts";

const never = () => new AbortController().signal;

Deno.test("UserTurns rotates between users, however many calls one of them makes", async () => {
  const turns = new UserTurns(["one"]);
  const order: string[] = [];
  const use = async (userId: string) => {
    const resource = await turns.take(userId, never());
    order.push(userId);
    await Promise.resolve();
    turns.giveBack(userId, resource);
  };

  await Promise.all(["a", "a", "a", "b", "c"].map(use));

  assert.deepEqual(order, ["a", "b", "c", "a", "a"]);
});

Deno.test("UserTurns leaves a resource for others while one user's call is slow", async () => {
  const turns = new UserTurns(["one", "two"]);
  const slow = await turns.take("a", never());
  const second = turns.take("a", never());

  const other = await turns.take("b", never());

  assert.notEqual(other, slow);
  turns.giveBack("a", slow);
  assert.equal(await second, slow);
});

Deno.test("UserTurns removes a user who disconnected while waiting", async () => {
  const turns = new UserTurns(["one"]);
  const held = await turns.take("a", never());
  const leaving = new AbortController();
  const gone = turns.take("b", leaving.signal);
  const waiting = turns.take("c", never());
  leaving.abort(new Error("gone"));

  await assert.rejects(gone, /gone/);
  turns.giveBack("a", held);
  assert.equal(await waiting, held);
});
