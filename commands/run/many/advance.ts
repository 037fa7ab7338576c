// `flemma advance`: runs one document as usual, or several documents in one process, `--jobs` of them in parallel.

import type { Invocation } from "../../invocation.ts";
import { numberOption } from "../../line/options.ts";
import { refuse } from "../../io/refuse.ts";
import { writeOutput } from "../../io/streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { positionals, options } = invocation.arguments;
  if (["only", "line", "no-tools"].some((name) => options.has(name))) {
    return await (await import("../forms.ts")).runForm(invocation);
  }
  if (positionals.length < 2 && !(options.has("jobs") && namesFile(positionals))) {
    if (invocation.arguments.isBare === true) {
      const { asksInPlace, runInPlace } = await import("../in_place.ts");
      if (asksInPlace(invocation)) return await runInPlace(invocation);
    }
    return await (await import("../advance.ts")).run(invocation);
  }
  if (positionals.includes("-")) {
    // A piped document is printed again even if the command line is wrong.
    if (positionals[0] === "-") writeOutput(invocation.input.read().bytes);
    return refuse(invocation, {
      code: "usage",
      message: "With several documents, all must be files. A piped document cannot be one of them.",
      next: "Leave out the -, or pipe that document to a separate flemma advance.",
    });
  }
  const jobs = numberOption(invocation.arguments, "jobs") ?? 1;
  if (jobs < 1) return refuse(invocation, { code: "usage", message: "--jobs needs a number of 1 or more." });
  const { advanceMany } = await import("./batch.ts");
  return await advanceMany(invocation, jobs);
}

function namesFile([file]: readonly string[]): boolean {
  return file !== undefined && file !== "-";
}
