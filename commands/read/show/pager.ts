// The pager of a person who reads at a terminal: the one they chose, or less, which ends by itself when all fits on the screen.

import { type Problem, thrownText } from "../../../base/problem.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** The pager as a line of shell; null for none. */
export function pagerCommand(variables: Variables): string | null {
  if (variables.TERM === "dumb") return null;
  const chosen = variables.FLEMMA_PAGER ?? variables.PAGER ?? "less";
  return chosen.trim() === "" || chosen.trim() === "cat" ? null : chosen;
}

/** What less and lv are told where the person has told them nothing: colours, and no pager for what fits on a screen. */
const MANNERS: Readonly<Record<string, string>> = { LESS: "FRX", LV: "-c" };

/** A pager that runs. */
export class Pager {
  readonly #child: Deno.ChildProcess;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
  }

  /**
   * Starts the pager. Its line goes to a shell, as with git and man: it is the person's own and may hold options.
   *
   * @returns null where there is none of that name: the text is then shown without one
   */
  static async start(command: string, variables: Variables): Promise<Pager | null> {
    const [program = ""] = command.trim().split(/\s+/);
    const known = await new Deno.Command("sh", {
      args: ["-c", 'command -v "$1"', "sh", program],
      stdout: "null",
      stderr: "null",
    }).output().then(({ success }) => success, () => false);
    if (!known) return null;
    const manners = Object.entries(MANNERS).filter(([name]) => variables[name] === undefined);
    return new Pager(
      new Deno.Command("sh", {
        args: ["-c", command],
        env: Object.fromEntries(manners),
        stdin: "piped",
        stdout: "inherit",
        stderr: "inherit",
      }).spawn(),
    );
  }

  /** Shows pieces of text, and waits until the person has read. A person who leaves before the end has read enough. */
  async show(pieces: Iterable<string>): Promise<Problem | null> {
    // Ctrl-C is for the pager, which knows what to do with it; it must not lose its terminal to a shell.
    const ignore = () => {};
    Deno.addSignalListener("SIGINT", ignore);
    try {
      const fault = await this.#write(pieces);
      await this.#child.status;
      return fault;
    } finally {
      Deno.removeSignalListener("SIGINT", ignore);
    }
  }

  async #write(pieces: Iterable<string>): Promise<Problem | null> {
    const input = this.#child.stdin.getWriter();
    const encoder = new TextEncoder();
    try {
      for (const piece of pieces) await input.write(encoder.encode(piece));
      await input.close();
      return null;
    } catch (thrown) {
      // A pager that is left with text unread resets what the system makes of the pipe.
      const isLeft = thrown instanceof Deno.errors.BrokenPipe ||
        thrown instanceof Deno.errors.ConnectionReset;
      if (isLeft) return null;
      await input.abort(thrown).catch(() => {});
      return {
        code: "pager-failed",
        message: `The pager took no more text: ${thrownText(thrown)}.`,
        next: "Try --no-pager.",
      };
    }
  }
}
