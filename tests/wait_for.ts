export { waitFor, type WaitOptions } from "../scripts/wait_for.ts";
