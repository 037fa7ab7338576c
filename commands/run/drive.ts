// Runs the cycle for a command and turns the stop reason into an exit code.

import type { Emit, Stop } from "../../cycle/types.ts";
import type { Invocation } from "../invocation.ts";
import { refuse } from "../io/refuse.ts";
import { switchOption } from "../line/options.ts";
import { type CommandDocument, type DocumentOptions, withDocument } from "../document/open.ts";
import { type Driving, Show } from "./output.ts";

/** How an action ended: with a stop, or with an exit code after the reason for refusing it was reported. */
type Ending = Stop | { readonly exit: number };

/** Opens the document, runs `act` and returns the exit code. `act` may emit events of its own through `emit`. */
export async function drive(
  invocation: Invocation,
  act: (document: CommandDocument, emit: Emit) => Promise<Ending>,
  driving: Driving = {},
): Promise<number> {
  const show = new Show(invocation, driving);
  const { among } = driving;
  try {
    // Several documents cannot share one terminal for questions.
    const shared = among === undefined
      ? asking(invocation, show)
      : { interrupts: among.interrupts, limiter: among.limiter, signal: among.signal };
    const options = { ...show.listeners(), ...shared, compacts: driving.compacts };
    return await withDocument(invocation, options, async (document) => {
      const problem = show.openEvents(document);
      if (problem !== null) return refuse(invocation, problem);
      const ending = await act(document, (event) => show.event(event));
      if (among === undefined) await show.used(document);
      if ("exit" in ending) return ending.exit;
      const isWithoutKey = ending.problem?.code === "credential-missing" && among === undefined;
      if (!isWithoutKey) return show.end(document, ending);
      const { withFirstSteps } = await import("./first_run.ts");
      return show.end(document, await withFirstSteps(invocation, document, ending));
    });
  } finally {
    await show.close();
  }
}

/** Tools may ask the person only if standard input and standard error are terminals. */
function asking({ arguments: given }: Invocation, show: Show): Partial<DocumentOptions> {
  const interactive = switchOption(given, "quiet") !== true && Deno.stdin.isTerminal() &&
    Deno.stderr.isTerminal();
  return interactive ? { interactive, askSecret: (question) => show.askSecret(question) } : {};
}

/** True if `--continue` asks the model to go on although its reply was last. */
export function goesOn(invocation: Invocation): boolean {
  return switchOption(invocation.arguments, "continue") === true;
}
