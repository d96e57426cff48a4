import assert from "node:assert/strict";
import { userCacheFolder } from "./cache_folder.ts";

Deno.test("userCacheFolder() is the user's folder of the system, or that of XDG_CACHE_HOME", () => {
  const home = { HOME: "/home/ada" };

  assert.equal(userCacheFolder(home, "linux"), "/home/ada/.cache/supaswarm");
  assert.equal(userCacheFolder(home, "darwin"), "/home/ada/Library/Caches/supaswarm");
  assert.equal(
    userCacheFolder({ ...home, XDG_CACHE_HOME: "/var/cache/ada" }, "linux"),
    "/var/cache/ada/supaswarm",
  );
  assert.equal(
    userCacheFolder({ ...home, XDG_CACHE_HOME: "cache" }, "linux"),
    "/home/ada/.cache/supaswarm",
    "a relative path is ignored",
  );
  assert.equal(userCacheFolder({}, "linux"), null);
});
