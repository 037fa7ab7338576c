// Runs `flemma watch` as a process, and reads its events while it runs.

import assert from "node:assert/strict";
import type { Scene } from "./harness.ts";

export interface Watch {
  /** Settles with an event that fits, of those that came after the last one asked for. */
  next(what: string, document?: string): Promise<Record<string, unknown>>;
  kill(signal: Deno.Signal): void;
  readonly pid: number;
  ends(): Promise<number>;
  /** Settles when standard error holds this. */
  reported(words: string): Promise<void>;
}

/** Watches with JSON, which is read as it comes. */
export async function watching(
  place: Scene,
  env: Readonly<Record<string, string>>,
  files: readonly string[],
  body: (watch: Watch) => Promise<void>,
): Promise<void> {
  const [program = "", ...args] = [...place.program, "watch", "--json", ...files];
  const child = new Deno.Command(program, {
    args,
    cwd: place.path(""),
    clearEnv: true,
    env: { ...place.env, ANTHROPIC_API_KEY: "k", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  let open = "";
  let reported = "";
  const errors = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) reported += text;
  })();
  const until = async (words: string) => {
    while (!reported.includes(words)) await new Promise((done) => setTimeout(done, 5));
  };
  await until("Watching");
  const waiting: Record<string, unknown>[] = [];
  const next = async (what: string, document?: string) => {
    while (true) {
      for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) {
        if (event.event === what && (document === undefined || event.document === document)) return event;
      }
      const { value, done } = await lines.next();
      assert.ok(!done, `it ended before ${what}: ${reported}`);
      const parts = (open + value).split("\n");
      open = parts.pop()!;
      waiting.push(...parts.map((line) => JSON.parse(line)));
    }
  };
  const ends = async () => (await child.status).code;
  try {
    await body({ next, ends, reported: until, kill: (signal) => child.kill(signal), pid: child.pid });
  } finally {
    try {
      child.kill("SIGTERM");
    } catch {
      // It has ended by itself.
    }
    await child.status;
    await lines.return?.();
    await errors;
  }
}
