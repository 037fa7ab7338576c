// The program with the commands about settings, for tests that run it as a process.

import { MODULES } from "../../commands/load.ts";
import { SETTINGS_COMMANDS, SETTINGS_MODULES } from "../../commands/line/settings_table.ts";
import { type Command, COMMANDS } from "../../commands/line/table.ts";

for (const command of SETTINGS_COMMANDS) {
  if (!COMMANDS.some(({ name }) => name === command.name)) (COMMANDS as Command[]).push(command);
}
Object.assign(MODULES, SETTINGS_MODULES);
const { main } = await import("../../commands/main.ts");
Deno.exit(await main(Deno.args));
