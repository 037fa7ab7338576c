// `flemma advance --only` and `--no-tools`: the same as `flemma execute` and `flemma send`.

import type { Invocation } from "../invocation.ts";
import { textOption } from "../line/options.ts";
import { COMMANDS } from "../line/table.ts";

/** Runs the command that does the same as the given form of `advance`. */
export async function runForm(invocation: Invocation): Promise<number> {
  const given = invocation.arguments;
  const name = given.options.has("no-tools") ? "send" : "execute";
  const { run } = name === "send" ? await import("./send.ts") : await import("./execute.ts");
  const target = textOption(given, "only");
  const file = given.positionals[0] ?? "-";
  return await run({
    ...invocation,
    arguments: {
      ...given,
      command: COMMANDS.find((command) => command.name === name)!,
      positionals: target === undefined ? [file] : [file, target],
      options: new Map([...given.options].filter(([option]) => option !== "only" && option !== "no-tools")),
    },
  });
}
