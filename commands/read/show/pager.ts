// The pager for reading at a terminal: the person's choice, or less, which exits if the text fits on the screen.

import { type Problem, thrownText } from "../../../base/problem.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the shell command of the pager; null for no pager. */
export function pagerCommand(variables: Variables): string | null {
  if (variables.TERM === "dumb") return null;
  const chosen = variables.FLEMMA_PAGER ?? variables.PAGER ?? "less";
  return chosen.trim() === "" || chosen.trim() === "cat" ? null : chosen;
}

/**
 * Options for less and lv, used unless the person set their own. They show colors, and less exits if the text fits on
 * one screen.
 */
const MANNERS: Readonly<Record<string, string>> = { LESS: "FRX", LV: "-c" };

export class Pager {
  readonly #child: Deno.ChildProcess;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
  }

  /**
   * Starts the pager in a shell, as git and man do: the command is the person's own and may contain options.
   *
   * @returns null if the program does not exist; the text is then shown without a pager
   */
  static async start(command: string, variables: Variables): Promise<Pager | null> {
    const [program = ""] = command.trim().split(/\s+/);
    const known = await new Deno.Command("/bin/sh", {
      args: ["-c", 'command -v "$1"', "sh", program],
      stdout: "null",
      stderr: "null",
    }).output().then(({ success }) => success, () => false);
    if (!known) return null;
    const manners = Object.entries(MANNERS).filter(([name]) => variables[name] === undefined);
    return new Pager(
      new Deno.Command("/bin/sh", {
        args: ["-c", command],
        env: Object.fromEntries(manners),
        stdin: "piped",
        stdout: "inherit",
        stderr: "inherit",
      }).spawn(),
    );
  }

  /** Writes the text and waits until the pager exits. If the person leaves the pager early, that is not an error. */
  async show(pieces: Iterable<string>): Promise<Problem | null> {
    // Ctrl-C belongs to the pager. If this process ended, the pager would lose its terminal to the shell. The listener
    // stays until this process ends: without it, a signal from just before the pager's end would still end the process.
    Deno.addSignalListener("SIGINT", () => {});
    const fault = await this.#write(pieces);
    await this.#child.status;
    return fault;
  }

  async #write(pieces: Iterable<string>): Promise<Problem | null> {
    const input = this.#child.stdin.getWriter();
    const encoder = new TextEncoder();
    try {
      for (const piece of pieces) await input.write(encoder.encode(piece));
      await input.close();
      return null;
    } catch (thrown) {
      // A pager that exits with unread text breaks or resets the pipe.
      const isLeft = thrown instanceof Deno.errors.BrokenPipe ||
        thrown instanceof Deno.errors.ConnectionReset;
      if (isLeft) return null;
      await input.abort(thrown).catch(() => {});
      return {
        code: "pager-failed",
        message: `The pager stopped reading: ${thrownText(thrown)}.`,
        next: "Try --no-pager.",
      };
    }
  }
}
