// Editors with this project's runtime files, as after `flemma editor NAME --install`.

import { ROOT } from "../../scripts/gate/root.ts";
import type { Editor } from "./terminal.ts";

/** What a person does in one of them, as keys. */
export interface Runtime extends Editor {
  readonly keys: {
    /** Sends the conversation on. */
    readonly advance: readonly string[];
    readonly cancel: readonly string[];
    /** To the next call that waits. */
    readonly nextWaiting: readonly string[];
    readonly approve: readonly string[];
    /** Rejects the call at the cursor; the reason is typed when `asks` is on the screen, and Enter. */
    readonly reject: readonly string[];
    /** Shows the whole call at the cursor. */
    readonly show: readonly string[];
    readonly closeShown: readonly string[];
    /** Approves the call that is shown. */
    readonly approveShown?: readonly string[];
    /** Completes the command that approves a call, up to the first one. */
    readonly completeCall?: readonly string[];
    readonly top: readonly string[];
    readonly end: readonly string[];
    /** To the last line that holds text. */
    readonly lastLine: readonly string[];
    /** Writes lines below the end, and stops writing. */
    write(...lines: readonly string[]): readonly string[];
    /** Adds to the line at the cursor. */
    append(text: string): readonly string[];
    readonly save: readonly string[];
    /** Opens another file in a second window and comes back. */
    beside?(file: string): readonly string[];
    /** Shows the text that the buffer could not take, where that is not shown by itself, and goes back. */
    readonly other?: { readonly show: readonly string[]; readonly back: readonly string[] };
  };
  /** It shows calls that wait as text beside the document. */
  readonly previews?: boolean;
  /** What the folder for temporary files is called, where the runtime files hand it to a shell and to the editor. */
  readonly temporary?: string;
  /** What it asks for a reason with. */
  readonly asks: string;
  /** What it says when a reply is there. */
  readonly complete: string;
}

const VIM_FILES = `${ROOT}/editors/vim`;
const VIM_START = [
  `set nocompatible noswapfile nobackup ttimeout ttimeoutlen=20 laststatus=2 rtp^=${VIM_FILES}`,
  "filetype plugin on",
  "syntax on",
  "set statusline=%f%m\\ [%{flemma#view#statusline()}]",
];
const VIM = {
  undo: ["u"],
  saveAndQuit: [":wqa!", "Enter"],
  stop: ["C-c"],
  dismiss: ["Enter"],
  writing: "-- INSERT --",
  filter: () => [],
  asks: "Reason to reject",
  complete: "the reply is complete",
  previews: true,
  keys: {
    advance: ["C-]"],
    cancel: ["C-c"],
    nextWaiting: ["]w"],
    approve: ["ga"],
    reject: ["gR"],
    show: ["K"],
    closeShown: ["q"],
    approveShown: ["a"],
    top: ["1G"],
    end: ["G"],
    lastLine: ["G"],
    // Both keys at the same time, because a reply may arrive between two keys.
    write: (...lines: readonly string[]) => [
      ...lines.flatMap((line, at) => [at === 0 ? "Go" : "Enter", line]),
      "Escape",
    ],
    append: (text: string) => ["A", text, "Escape"],
    save: [":write", "Enter"],
    completeCall: [":Flemma approve ", "Tab"],
    beside: (file: string) => [`:split ${file}`, "Enter", "C-w", "w"],
  },
} as const;

/** The words that open a file with all of them as commands before anything is loaded. */
function vimWords(program: readonly string[], file: string): readonly string[] {
  return [...program, ...VIM_START.flatMap((line) => ["--cmd", line]), file];
}

const EMACS = {
  undo: ["C-_"],
  saveAndQuit: ["C-x", "C-s", "C-x", "C-c"],
  stop: ["C-g"],
  dismiss: [],
  filter: () => [],
  asks: "Reason to reject",
  complete: "the reply is complete",
  previews: true,
  keys: {
    advance: ["C-c", "C-c"],
    cancel: ["C-c", "C-k"],
    nextWaiting: ["C-c", "C-w"],
    approve: ["C-c", "C-a"],
    reject: ["C-c", "C-r"],
    show: ["C-c", "C-v"],
    closeShown: ["q"],
    approveShown: ["a"],
    top: ["M-<"],
    end: ["M->"],
    lastLine: ["M->", "C-b"],
    write: (...lines: readonly string[]) => ["M->", ...lines.flatMap((line) => [line, "Enter"])],
    append: (text: string) => ["C-e", text],
    save: ["C-x", "C-s"],
    beside: (file: string) => ["C-x", "4", "C-f", file, "Enter", "C-x", "o"],
  },
} as const;

const KAKOUNE = {
  undo: ["u"],
  saveAndQuit: [":write-all-quit", "Enter"],
  stop: ["C-c"],
  dismiss: ["Enter"],
  writing: " insert ",
  filter: () => [],
  asks: "Reason to reject",
  complete: "the reply is complete",
  keys: {
    advance: [" ", "m", "m"],
    cancel: [" ", "m", "k"],
    nextWaiting: [" ", "m", "w"],
    approve: [" ", "m", "a"],
    reject: [" ", "m", "r"],
    show: [" ", "m", "v"],
    closeShown: [":delete-buffer", "Enter"],
    top: ["gg"],
    end: ["ge"],
    lastLine: ["ge"],
    write: (...lines: readonly string[]) => [
      ...lines.flatMap((line, at) => [at === 0 ? "geo" : "Enter", line]),
      "Escape",
    ],
    append: (text: string) => ["A", text, "Escape"],
    save: [":write", "Enter"],
    other: { show: [":buffer *flemma-reply*", "Enter"], back: [":buffer q.chat", "Enter"] },
  },
} as const;

export const RUNTIMES: Readonly<Record<string, Runtime>> = {
  "Vim": { ...VIM, program: "vim", open: (file) => vimWords(["vim", "-Nu", "NORC", "-i", "NONE"], file) },
  "Neovim": { ...VIM, program: "nvim", open: (file) => vimWords(["nvim", "-u", "NORC", "-i", "NONE"], file) },
  "Kakoune": {
    ...KAKOUNE,
    temporary: "it's $(touch ran) ; a b",
    program: "kak",
    open: (
      file,
    ) => [
      "kak",
      "-n",
      "-e",
      `source ${ROOT}/editors/kakoune/flemma.kak; edit '${file.replaceAll("'", "''")}'`,
    ],
  },
  "Emacs": {
    ...EMACS,
    program: "emacs",
    // While it looks for the hint that a command has a key, Emacs 28 drops what is typed.
    open: (file) =>
      ["emacs", "-nw", "-Q", "--eval", "(setq suggest-key-bindings nil)"].concat([
        "--load",
        `${ROOT}/editors/emacs/flemma.el`,
        file,
      ]),
  },
};
