// `flemma demo`: shows the whole cycle on a tiny project, with the real commands; only the model is scripted.

import { thrownText } from "../../base/problem.ts";
import { parse } from "../../parser/mod.ts";
import { parseReplayScript, startReplay } from "../../providers/replay/server.ts";
import { visible } from "../../base/visible.ts";
import { DEMO_FILES } from "./demo_files.generated.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { writeOutput } from "../io/streams.ts";
import { refuse } from "../io/refuse.ts";

/** Maximum number of approvals, a few more than the script needs. A demo that asks for more has gone wrong. */
const MOST_APPROVALS = 5;

export async function run(invocation: Invocation): Promise<number> {
  const { messages } = invocation;
  let folder: string;
  try {
    folder = await Deno.makeTempDir({ prefix: "flemma-demo-" });
    await Deno.mkdir(`${folder}/project`);
    for (const [name, text] of Object.entries(DEMO_FILES)) {
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
  } catch (thrown) {
    messages.say(`flemma: The demo cannot be set up: ${thrownText(thrown)}.`);
    return Exit.failure;
  }
  const parsed = await parseReplayScript(DEMO_FILES["replay.yaml"] ?? "");
  if (!parsed.ok) return refuse(invocation, parsed.problem);
  const replay = await startReplay(parsed.value);
  try {
    const passed = await new Demo(invocation, folder, replay.url).play();
    for (const problem of replay.problems) messages.say(`flemma: ${problem}`);
    return passed && replay.problems.length === 0 && replay.remaining === 0 ? Exit.ok : Exit.failure;
  } finally {
    await replay.close();
  }
}

class Demo {
  readonly #folder: string;
  readonly #env: Record<string, string>;

  constructor({ environment }: Invocation, folder: string, url: string) {
    this.#folder = folder;
    this.#env = {
      ...environment.variables,
      FLEMMA_ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "none-is-needed",
      FLEMMA_CONFIG: `${folder}/config.yaml`,
      XDG_STATE_HOME: `${folder}/state`,
    };
  }

  /** Plays the demo; true if the project's test passes at the end. */
  async play(): Promise<boolean> {
    const project = `${this.#folder}/project`;
    say(`Copied a small project with a failing test to ${project}.`);
    say("A server on this machine replays the model's replies and token counts. Nothing is charged.");
    say("Everything else is real: the tools, the sandbox and your approvals.");
    await this.#tellSandbox();
    await this.#shell("cat demo.chat");
    let code = await this.#flemma("advance", "demo.chat");
    for (let approvals = 0; code === Exit.person && approvals < MOST_APPROVALS; approvals++) {
      const id = this.#showPending();
      if (id === null || await this.#flemma("approve", "demo.chat", id) !== Exit.ok) return false;
      code = await this.#flemma("advance", "demo.chat");
    }
    await this.#shell("cat demo.chat");
    const test = await this.#shell("sh test.sh");
    say("");
    if (code === Exit.ok && test === 0) say(`The test passes. The document is ${project}/demo.chat`);
    else say(`The demo failed: advance ended with exit code ${code}, the test with ${test}. See ${project}`);
    return code === Exit.ok && test === 0;
  }

  async #tellSandbox(): Promise<void> {
    const child = new Deno.Command(this.#program(), {
      args: [...this.#programArguments(), "sandbox", "status", "--json"],
      ...this.#place(),
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    });
    const { stdout } = await child.output();
    const { commands, backend, error } = JSON.parse(new TextDecoder().decode(stdout));
    if (commands === "confined") say(`Commands run inside the sandbox (${backend}).`);
    else {
      const why = error?.message ?? "it is switched off.";
      say(`No sandbox works here, so commands run without one: ${why}`);
    }
  }

  /** Prints the pending call as it is in the document. Returns its id, or null if none is pending. */
  #showPending(): string | null {
    const chat = parse(Deno.readFileSync(`${this.#folder}/project/demo.chat`));
    const block = chat.results.find(({ status }) => status === "pending");
    const call = block === undefined ? undefined : chat.call(block.id);
    if (block === undefined || call === undefined) return null;
    say("\nThis call waits for you. In the document it looks like this:\n");
    const lines = (from: number, to: number) => chat.text(chat.lineStart(from), chat.lineEnd(to));
    for (const { start, end } of [call.place, block.place]) {
      say(lines(start, end).replace(/^(?=.)/gm, "    ") + "\n");
    }
    say("To approve it, replace pending with approved, or run:");
    return block.id;
  }

  /** Prints a flemma command line and runs it. */
  #flemma(...words: string[]): Promise<number> {
    say(`\n$ flemma ${words.join(" ")}`);
    return this.#attend(this.#program(), [...this.#programArguments(), ...words]);
  }

  #shell(line: string): Promise<number> {
    say(`\n$ ${line}`);
    return this.#attend("sh", ["-c", line]);
  }

  async #attend(program: string, args: readonly string[]): Promise<number> {
    const options = { stdin: "null", stdout: "inherit", stderr: "inherit" } as const;
    const child = new Deno.Command(program, { args: [...args], ...this.#place(), ...options }).spawn();
    return (await child.status).code;
  }

  #place(): { cwd: string; env: Record<string, string> } {
    return { cwd: `${this.#folder}/project`, env: this.#env };
  }

  #program(): string {
    return Deno.execPath();
  }

  /** A compiled program runs itself; otherwise the runtime needs the main module. */
  #programArguments(): string[] {
    return Deno.build.standalone ? [] : ["run", "-A", "--quiet", Deno.mainModule];
  }
}

function say(line: string): void {
  writeOutput(`${visible(line, { lines: true })}\n`);
}
