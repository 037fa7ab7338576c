// The program in a pseudo-terminal of a given size; keys are sent once the prompt they answer appears.

import assert from "node:assert/strict";
import type { Scene } from "./harness.ts";

/** Holds the pseudo-terminal: output goes out, lines of JSON on standard input are keys, sizes or signals. */
const HOLDER = `
import fcntl, json, os, pty, select, signal, struct, sys, termios
columns, rows = int(sys.argv[1]), int(sys.argv[2])
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
waiting, asked = b"", True
while True:
    ready = select.select([terminal] + ([0] if asked else []), [], [])[0]
    if terminal in ready:
        try:
            read = os.read(terminal, 65536)
        except OSError:
            break
        if not read:
            break
        os.write(1, read)
    if 0 in ready:
        read = os.read(0, 65536)
        asked = read != b""
        waiting += read
        while b"\\n" in waiting:
            line, waiting = waiting.split(b"\\n", 1)
            order = json.loads(line)
            if "keys" in order:
                os.write(terminal, order["keys"].encode())
            if "size" in order:
                columns, rows = order["size"]
                fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            if "signal" in order:
                os.kill(pid, order["signal"])
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) % 256)
`;

/** Milliseconds of silence after which a run is given up; far more than the slowest machine needs. */
const PATIENCE = 120_000;

/** A run of the program at a terminal. */
export class AtTerminal {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<string>;
  /** What came and was not looked at yet. */
  #fresh = "";
  /** Everything that came. */
  all = "";

  constructor(
    place: Scene,
    words: readonly string[],
    { size = [80, 24], env = {} }: {
      readonly size?: readonly [number, number];
      readonly env?: Readonly<Record<string, string>>;
    } = {},
  ) {
    this.#child = new Deno.Command("python3", {
      args: ["-c", HOLDER, String(size[0]), String(size[1]), ...place.program, ...words],
      cwd: place.path(""),
      clearEnv: true,
      env: { ...place.env, TERM: "xterm", NO_COLOR: "1", ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#output = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Waits until a text or a pattern stands in what came since the last time; answers what came up to its end. */
  async until(wanted: string | RegExp): Promise<string> {
    for (;;) {
      const at = typeof wanted === "string" ? this.#fresh.indexOf(wanted) : this.#fresh.search(wanted);
      if (at >= 0) {
        const length = typeof wanted === "string" ? wanted.length : wanted.exec(this.#fresh)![0].length;
        const seen = this.#fresh.slice(0, at + length);
        this.#fresh = this.#fresh.slice(at + length);
        return seen;
      }
      if (!await this.#more()) assert.fail(`ended without ${wanted}:\n${this.all}`);
    }
  }

  /** Presses keys once `question` stands there; answers what was shown before. */
  async press(question: string | RegExp, keys: string): Promise<string> {
    const shown = await this.until(question);
    await this.#order({ keys });
    return shown;
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#order({ size: [columns, rows] });
  }

  async signal(number: number): Promise<void> {
    await this.#order({ signal: number });
  }

  /** The exit code and all that was shown, once the program has ended. */
  async ended(): Promise<{ readonly code: number; readonly shown: string }> {
    while (await this.#more());
    await this.#input.close();
    const { code } = await this.#child.status;
    return { code, shown: this.all };
  }

  /** A program that says nothing more would keep the tests waiting for ever. */
  async #soon<T>(read: Promise<T>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silent = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#child.kill("SIGKILL");
        reject(new Error(`nothing came for ${PATIENCE / 1000} s:\n${this.all}`));
      }, PATIENCE);
    });
    return await Promise.race([read, silent]).finally(() => clearTimeout(timer));
  }

  async #order(order: unknown): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify(order)}\n`));
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#soon(this.#output.read());
    if (done) return false;
    const text = value.replaceAll("\r\n", "\n");
    this.#fresh += text;
    this.all += text;
    return true;
  }
}
