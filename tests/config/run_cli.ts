// The program with the commands about settings, for tests that run it as a process.

import { SETTINGS_COMMANDS } from "../../commands/line/rows/settings.ts";
import { COMMANDS } from "../../commands/line/table.ts";
import type { Command } from "../../commands/line/spec.ts";

for (const command of SETTINGS_COMMANDS) {
  if (!COMMANDS.some(({ name }) => name === command.name)) (COMMANDS as Command[]).push(command);
}
const { main } = await import("../../commands/main.ts");
Deno.exit(await main(Deno.args));
