// Real editors in a real terminal: tmux is the terminal, keys are sent, and the file afterwards counts.

import assert from "node:assert/strict";
import type { Scene } from "../cli/harness.ts";
import { writeProgram } from "../folder.ts";

export interface Editor {
  readonly program: string;
  /** The words that open a file. */
  open(file: string): readonly string[];
  /** Keys that filter the whole buffer through a command, as tmux calls them; longer words are typed as they are. */
  filter(command: string): readonly string[];
  /** What stands on the screen once the first of these keys was taken; an editor may drop keys while it is busy. */
  readonly prompt?: string;
  /** What stands on the screen while keys are text of the document, until Escape was taken. */
  readonly writing?: string;
  readonly undo: readonly string[];
  readonly saveAndQuit: readonly string[];
  /** Keys that stop a running filter. */
  readonly stop: readonly string[];
  /** No key stops a filter: it runs to its end. */
  readonly deaf?: boolean;
  /** Keys that an editor answers with `shown` only once it is done with a filter; until then its screen may be an old one. */
  readonly settled?: { readonly keys: readonly string[]; readonly shown: string };
  /** Keys that take away what the editor says about a filter that failed. */
  readonly dismiss: readonly string[];
}

const VI = { undo: ["u"], saveAndQuit: [":wq", "Enter"], stop: ["C-c"], dismiss: ["Enter"] };

export const EDITORS: Readonly<Record<string, Editor>> = {
  "Vim": {
    ...VI,
    program: "vim",
    open: (file) => ["vim", "-Nu", "NONE", "-n", file],
    filter: (command) => [`:%!${command}`, "Enter"],
  },
  "Neovim with shelltemp": {
    ...VI,
    program: "nvim",
    open: (file) => ["nvim", "--clean", "-n", "--cmd", "set shelltemp", file],
    filter: (command) => [`:%!${command}`, "Enter"],
  },
  "Neovim without shelltemp": {
    ...VI,
    program: "nvim",
    open: (file) => ["nvim", "--clean", "-n", "--cmd", "set noshelltemp", file],
    filter: (command) => [`:%!${command}`, "Enter"],
  },
  "Emacs": {
    program: "emacs",
    open: (file) => ["emacs", "-nw", "-Q", file],
    filter: (command) => ["C-x", "h", "C-u", "M-|", command, "Enter"],
    undo: ["C-_"],
    settled: { keys: ["C-x", "="], shown: "point=" },
    saveAndQuit: ["C-x", "C-s", "C-x", "C-c"],
    stop: ["C-g"],
    dismiss: [],
  },
  "Kakoune": {
    ...VI,
    program: "kak",
    open: (file) => ["kak", "-n", file],
    filter: (command) => ["%", "|", command, "Enter"],
  },
  "vis": {
    ...VI,
    program: "vis",
    open: (file) => ["vis", file],
    filter: (command) => [`:,|${command}`, "Enter"],
  },
  "micro": {
    deaf: true,
    program: "micro",
    open: (file) => ["micro", file],
    filter: (command) => ["C-a", "C-e", `textfilter ${command}`, "Enter"],
    undo: ["C-z"],
    saveAndQuit: ["C-s", "C-q"],
    stop: ["C-c"],
    dismiss: [],
  },
  "nano": {
    program: "nano",
    prompt: "Command to execute",
    open: (file) => ["nano", "-I", file],
    filter: (command) => ["C-t", `|${command}`, "Enter"],
    undo: ["M-u"],
    saveAndQuit: ["C-s", "C-x"],
    stop: ["C-c"],
    dismiss: [],
  },
};

/** Programs of the matrix that this machine lacks. */
export async function missingPrograms(): Promise<string[]> {
  const programs = [...new Set(Object.values(EDITORS).map(({ program }) => program)), "tmux"];
  const found = await Promise.all(programs.map(async (program) => {
    const args = ["-c", 'command -v "$1"', "sh", program];
    return (await new Deno.Command("/bin/sh", { args, stdout: "null", stderr: "null" }).output()).success;
  }));
  return programs.filter((_, at) => !found[at]);
}

/** Longest wait in milliseconds, generous because tests of several editors run at the same time. */
const LONGEST_WAIT = 150_000;
const POLL = 15;

/** One editor that has one file open. */
export class EditorSession {
  readonly #editor: Editor;
  readonly #place: Scene;
  readonly #socket: string;
  /** The editor's own process. */
  #pid = "";

  private constructor(editor: Editor, place: Scene) {
    this.#editor = editor;
    this.#place = place;
    this.#socket = `${place.folder}/tmux`;
  }

  /** Opens the file and waits until `shown` stands on the screen. */
  static async open(
    editor: Editor,
    place: Scene,
    file: string,
    { shown, env, columns = 120 }: {
      readonly shown: string;
      readonly env?: Readonly<Record<string, string>>;
      readonly columns?: number;
    },
  ): Promise<EditorSession> {
    const session = new EditorSession(editor, place);
    const words = [
      "new-session",
      "-d",
      "-x",
      String(columns),
      "-y",
      "40",
      "--",
      ...editor.open(place.path(file)),
    ];
    await session.#tmux(words, { ...place.env, ...env });
    session.#pid = (await session.#tmux(["display-message", "-p", "#{pane_pid}"])).output;
    await session.until(
      async () => (await session.screen()).includes(shown),
      `${shown} is shown`,
    );
    return session;
  }

  /** Starts a filter over the whole buffer. */
  async filter(command: string): Promise<void> {
    const { prompt, filter } = this.#editor;
    const [first = "", ...rest] = filter(command);
    await this.type([first]);
    for (let waited = 1; prompt !== undefined && !(await this.screen()).includes(prompt); waited++) {
      await new Promise((done) => setTimeout(done, POLL));
      if (waited % 100 === 0) await this.type([first]);
    }
    await this.type(rest);
  }

  /** Filters the whole buffer and waits until the program has ended. */
  async filtered(command: string): Promise<void> {
    await this.filter(command);
    await this.programEnds();
  }

  async undo(): Promise<void> {
    await this.type(this.#editor.undo);
  }

  async stop(): Promise<void> {
    await this.type(this.#editor.stop);
  }

  async dismiss(): Promise<void> {
    await this.type(this.#editor.dismiss);
  }

  /**
   * Some editors take the old text away before a filter begins, and put nothing in its place when they were told to stop:
   * then one undo brings it back.
   */
  async undoIfEmptied(shown: string): Promise<void> {
    const { settled } = this.#editor;
    if (settled !== undefined) {
      // An editor that quits a command also drops the keys that were typed meanwhile.
      let looks = 0;
      await this.until(async () => {
        if (looks++ % 200 === 0) await this.type(settled.keys);
        return (await this.screen()).includes(settled.shown);
      }, "the editor is done with it");
    }
    const begun = performance.now();
    while (performance.now() - begun < 1000) {
      if ((await this.screen()).includes(shown)) return;
      await new Promise((done) => setTimeout(done, POLL));
    }
    await this.undo();
    await this.until(async () => (await this.screen()).includes(shown), "one undo brings the text back");
  }

  /** Settles when the program of the newest filter has ended. */
  async programEnds(): Promise<void> {
    await this.until(() => this.#place.exists("pid"), "the program starts");
    await this.until(() => !isAlive(this.#place.read("pid")), "the program ends");
  }

  async saveAndQuit(): Promise<void> {
    await this.type(this.#editor.saveAndQuit);
    await this.until(async () => !await this.isOpen(), "the editor quits");
  }

  async type(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const literal = key.length > 3 && !["Enter", "Escape"].includes(key);
      await this.#tmux(["send-keys", ...(literal ? ["-l"] : []), "--", key]);
      // Only the time until the next key tells an editor that this was not the beginning of Alt and that key.
      if (key !== "Escape") continue;
      await new Promise((resolve) => setTimeout(resolve, 100));
      const { writing } = this.#editor;
      if (writing === undefined) continue;
      await this.until(async () => !(await this.screen()).includes(writing), "Escape was taken");
    }
  }

  async screen(): Promise<string> {
    return (await this.#tmux(["capture-pane", "-p"])).output;
  }

  /** The screen with the sequences that set colors. */
  async colors(): Promise<string> {
    return (await this.#tmux(["capture-pane", "-p", "-e"])).output;
  }

  async isOpen(): Promise<boolean> {
    return (await this.#tmux(["has-session"])).success;
  }

  /** Ends the editor, whatever it does. */
  async close(): Promise<void> {
    await this.#tmux(["kill-server"]);
    while (isAlive(this.#pid)) await new Promise((done) => setTimeout(done, POLL));
  }

  async until(condition: () => boolean | Promise<boolean>, what: string | (() => string)): Promise<void> {
    const begun = performance.now();
    while (!await condition()) {
      if (performance.now() - begun > LONGEST_WAIT) {
        assert.fail(`not so: ${typeof what === "string" ? what : what()}. Screen:\n${await this.screen()}`);
      }
      await new Promise((done) => setTimeout(done, POLL));
    }
  }

  async #tmux(words: readonly string[], env?: Readonly<Record<string, string>>) {
    const { success, stdout } = await new Deno.Command("tmux", {
      args: ["-S", this.#socket, "-f", "/dev/null", ...words],
      cwd: this.#place.path(""),
      clearEnv: true,
      env: { ...env ?? this.#place.env, TERM: "xterm-256color", LANG: "C.UTF-8", SHELL: "/bin/sh" },
      stdin: "null",
      stderr: "null",
    }).output();
    return { success, output: new TextDecoder().decode(stdout) };
  }
}

/** Whether a process runs; one that ended and was not waited for does not. */
export function isAlive(pid: string): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid.trim()}/stat`);
    return !/^\d+ \(.*\) Z/s.test(stat);
  } catch {
    return false;
  }
}

/** Puts the program on the path of the scene as `flemma`; each run leaves its process number in `pid`. */
export function installProgram(place: Scene): Readonly<Record<string, string>> {
  Deno.mkdirSync(`${place.folder}/bin`, { recursive: true });
  const words = place.program.map((word) => `'${word}'`).join(" ");
  writeProgram(
    `${place.folder}/bin/flemma`,
    `#!/bin/sh\necho $$ > '${place.path("pid")}'\nexec ${words} "$@"\n`,
  );
  return { PATH: `${place.folder}/bin:${place.env.PATH}` };
}
