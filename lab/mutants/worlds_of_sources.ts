/** `worlds_of_sources.ts`: runs worlds on these sources, and prints what the first of them violates. */
import { writeLine } from "../../scripts/terminal.ts";
import { openWorldDatabase } from "../simulation/open_world_database.ts";
import { firstViolation } from "./first_violation.ts";

const violation = await firstViolation(await openWorldDatabase());
if (violation !== null) writeLine(violation);
Deno.exit(violation === null ? 0 : 1);
