// The scenes of the pictures: a run of the program in each editor and in a terminal, up to the moment of the picture.

import { ROOT } from "../gate/root.ts";

export interface Scene {
  /** Name of the file in docs/pictures/, without its extension. */
  readonly name: string;
  /** What the picture shows, in a sentence. */
  readonly title: string;
  readonly size: readonly [columns: number, rows: number];
  /** The document before the run. */
  readonly document: string;
  /** The command to start; the working folder contains `notes.chat`. */
  readonly start: readonly string[];
  /** The user's actions: key names of tmux or words to type, and the text to wait for on the screen. */
  readonly acts: readonly { readonly keys: readonly string[]; readonly until: string }[];
  /** True if the model thinks before it answers. @default false */
  readonly thinks?: boolean;
  /** True if the terminal is light, for readers whose pages are light. @default false */
  readonly light?: boolean;
  /**
   * Files and folders that determine how the picture looks, in addition to the scripts of the pictures. These are only
   * files that draw, not everything that influences the picture. If a picture had to be made again after every change,
   * nobody would look at it.
   */
  readonly shows: readonly string[];
}

/** The files of the project in the pictures. */
export const FILES: Readonly<Record<string, string>> = {
  "average.ts": [
    "/** The mean of some numbers. */",
    "export function average(values: number[]): number {",
    "  const sum = values.reduce((a, b) => a + b);",
    "  return sum / values.length;",
    "}",
    "",
  ].join("\n"),
};

const QUESTION = "@You:\nFix average() so that an empty list gives 0, and run the tests.\n";

/** The model's thinking, in scenes that show it. */
const THINKING = `
      - thinking: reduce without an initial value throws for an empty list. One line fixes it.`;

/** The model's reply. */
export const replyFor = ({ thinks = false }: Pick<Scene, "thinks">): string => `
replies:
  - reply:${thinks ? THINKING : ""}
      - text: An empty list has no first value, so reduce throws. I return 0 early.
      - tool_use:
          id: toolu_01
          name: edit
          input:
            path: average.ts
            oldText: "  const sum = values.reduce((a, b) => a + b);\\n  return sum / values.length;\\n"
            newText: "  if (values.length === 0) return 0;\\n  const sum = values.reduce((a, b) => a + b);\\n  return sum / values.length;\\n"
      - tool_use:
          id: toolu_02
          name: bash
          input: { label: run the tests, command: deno test, timeout: null }
    usage: { input_tokens: 1840, output_tokens: 212 }
`;

/** Settings under which both calls wait. */
export const SETTINGS = "tools: { auto_approve_sandboxed: false, auto_approve: [] }\n";

/** Steps for editors, from the question to the first waiting call, shown with its change. */
const WHOLE_CALL =
  "a conversation with two pending calls, and the first call in full, with its change as a diff";

const VIM = [
  `set nocompatible noswapfile nobackup laststatus=2 background=dark rtp^=${ROOT}/editors/vim`,
  "filetype plugin on",
  "syntax on",
  "set statusline=%f%m\\ [%{flemma#view#statusline()}]",
];
const vimWords = (program: readonly string[], lines: readonly string[] = VIM) => [
  ...program,
  ...lines.flatMap((line) => ["--cmd", line]),
  "notes.chat",
];
const LIGHT_VIM = VIM.map((line) => line.replace("background=dark", "background=light"));
const VIM_ACTS = [
  { keys: ["C-]"], until: "waits for you: bash" },
  { keys: ["1G", "]w"], until: "waits for you: edit" },
  { keys: ["K"], until: "+  if (values.length" },
];

/** Emacs colors for a dark terminal. */
const DARK = "(progn (setq frame-background-mode 'dark) (frame-set-background-mode (selected-frame)))";

export const SCENES: readonly Scene[] = [
  {
    name: "vim",
    title: `Vim: ${WHOLE_CALL}`,
    size: [92, 34],
    document: QUESTION,
    start: vimWords(["vim", "-Nu", "NORC", "-i", "NONE"]),
    acts: VIM_ACTS,
    shows: ["editors/vim"],
  },
  {
    name: "vim-light",
    title: `Vim: ${WHOLE_CALL}`,
    size: [92, 34],
    document: QUESTION,
    start: vimWords(["vim", "-Nu", "NORC", "-i", "NONE"], LIGHT_VIM),
    acts: VIM_ACTS,
    light: true,
    shows: ["editors/vim"],
  },
  {
    name: "neovim",
    title: `Neovim: ${WHOLE_CALL}`,
    size: [92, 34],
    document: QUESTION,
    start: vimWords(["nvim", "-u", "NORC", "-i", "NONE"]),
    acts: VIM_ACTS,
    shows: ["editors/vim"],
  },
  {
    name: "emacs",
    title: `Emacs: ${WHOLE_CALL}`,
    size: [92, 34],
    document: QUESTION,
    start: ["emacs", "-nw", "-Q", "--eval", DARK, "--load", `${ROOT}/editors/emacs/flemma.el`, "notes.chat"],
    acts: [
      { keys: ["C-c", "C-c"], until: "waits for you: edit" },
      { keys: ["M-<", "C-c", "C-w"], until: "waits for you: edit" },
      { keys: ["C-c", "C-v"], until: "+  if (values.length" },
    ],
    shows: ["editors/emacs"],
  },
  {
    name: "kakoune",
    title: "Kakoune: the first pending call in full, with its change as a diff",
    size: [92, 18],
    document: QUESTION,
    start: ["kak", "-n", "-s", "stats", "-e", `source ${ROOT}/editors/kakoune/flemma.kak; edit notes.chat`],
    acts: [
      { keys: [" ", "m", "m"], until: "waits for you" },
      { keys: ["gg", " ", "m", "w"], until: "toolu_01" },
      { keys: [" ", "m", "v"], until: "+  if (values.length" },
    ],
    shows: ["editors/kakoune"],
  },
  {
    name: "review",
    title: "A terminal: flemma review shows a call in full, with its diff and the rule that decides",
    size: [92, 18],
    document: QUESTION,
    start: ["sh", "-c", "flemma advance --quiet notes.chat 2>/dev/null; clear; flemma review notes.chat"],
    acts: [{ keys: [], until: "+  if (values.length" }],
    shows: ["commands/approval/review/screen.ts", "render/terminal/lines.ts"],
  },
  {
    name: "show",
    title: "A terminal: flemma show prints a conversation with dim thinking, calls and their changes",
    size: [92, 20],
    document: QUESTION,
    start: [
      "sh",
      "-c",
      "flemma advance --quiet notes.chat 2>/dev/null; clear; flemma show notes.chat --no-pager; read key",
    ],
    acts: [{ keys: [], until: "waits for you" }],
    thinks: true,
    shows: ["render/conversation.ts", "render/terminal"],
  },
  {
    name: "git",
    title: "A terminal: git log -p shows the new messages of a conversation as readable text",
    size: [92, 30],
    document: QUESTION,
    start: [
      "sh",
      "-c",
      [
        "exec 2>/dev/null",
        "export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE=2026-11-28T09:30:00Z GIT_COMMITTER_DATE=2026-11-28T09:30:00Z",
        "git init -q -b main && git config user.name You && git config user.email you@example.org",
        "flemma git setup --write >/dev/null",
        'git add .gitattributes notes.chat average.ts && git commit -qm "Ask about the empty list"',
        "flemma advance --quiet notes.chat >/dev/null",
        'git commit -qam "Let the model answer"',
        "clear",
        "git --no-pager -c color.ui=always log -1 -p --format='%C(yellow)%h%Creset %s' -- notes.chat",
        "read key",
      ].join("; "),
    ],
    acts: [{ keys: [], until: "+Result: waits for you" }],
    shows: ["commands/write/git", "render"],
  },
];
