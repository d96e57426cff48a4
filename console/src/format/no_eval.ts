import { z } from "../../../shared/vendor/zod.js";

// Zod tests whether it may compile code, which the page's policy reports as a violation. Imported
// before any schema, because a schema tests it when it is made.
z.config({ jitless: true });
