// Which editors there are files for, where each of them looks, and what a person has to do beside.

import { isThere } from "../../base/files.ts";
import type { Environment } from "../../base/environment.ts";

/** An editor that the program has files for. */
export interface EditorPlace {
  /** The folder of `editors/` with its files. */
  readonly files: string;
  /** Where they go: a folder of their own; null where they are lines for a file of the person. */
  folder(environment: Environment): string | null;
  /**
   * The only file that is put there, as a passage in what the person has; the others are only printed. `conflict` is
   * what must not stand in that file beside it. @default all files go into a folder of their own
   */
  readonly passage?: { readonly file: string; readonly conflict: RegExp };
  /** What else has to be done, for files in `folder`; null when nothing. */
  next(folder: string): string | null;
}

/** The editors by the name a person says. */
export const EDITOR_PLACES: Readonly<Record<string, EditorPlace>> = {
  vim: {
    files: "vim",
    folder: ({ home }) => `${home}/.vim/pack/flemma/start/flemma`,
    next: (folder) =>
      `Start Vim anew. \`filetype plugin on\` and \`syntax on\` have to be in your vimrc; for :help flemma say once :helptags ${
        vimName(`${folder}/doc`)
      }`,
  },
  neovim: {
    files: "vim",
    folder: ({ home, variables }) =>
      `${absolute(variables.XDG_DATA_HOME) ?? `${home}/.local/share`}/nvim/site/pack/flemma/start/flemma`,
    next: (folder) => `Start Neovim anew. For :help flemma say once :helptags ${vimName(`${folder}/doc`)}`,
  },
  emacs: {
    files: "emacs",
    folder: ({ home, variables }) => `${emacsFolder(home, variables.XDG_CONFIG_HOME)}/flemma`,
    next: (folder) => `Write into your init file: (load ${lispText(`${folder}/flemma.el`)})`,
  },
  kakoune: {
    files: "kakoune",
    // A folder `autoload` there would take the place of the one that Kakoune brings along.
    folder: ({ home, variables }) => `${absolute(variables.XDG_CONFIG_HOME) ?? `${home}/.config`}/kak/flemma`,
    next: (folder) => `Write into your kakrc: source ${kakouneText(`${folder}/flemma.kak`)}`,
  },
  helix: {
    files: "helix",
    folder: ({ home, variables }) => `${absolute(variables.XDG_CONFIG_HOME) ?? `${home}/.config`}/helix`,
    passage: {
      file: "languages.toml",
      conflict: /^\s*\[language-server\.flemma\]|^\s*flemma\s*=|^\s*name\s*=\s*["']chat["']/m,
    },
    next: () => "Start Helix anew. Keys are lines for your config.toml: flemma editor helix --print",
  },
  vscode: {
    files: "vscode",
    folder: ({ home }) => `${home}/.vscode/extensions/flemma.flemma`,
    next: (folder) =>
      `In VS Code run the command "Developer: Install Extension from Location…" and choose ${folder}`,
  },
  ...Object.fromEntries(
    // Keys over the filter; they stand among a person's own.
    ["micro", "nano", "vis"].map((name) => [name, { files: name, folder: () => null, next: () => null }]),
  ),
};

/** Where Emacs looks first: `.emacs.d` where it is there, else the folder of settings. */
function emacsFolder(home: string, settings: string | undefined): string {
  const modern = `${absolute(settings) ?? `${home}/.config`}/emacs`;
  return !isThere(`${home}/.emacs.d`) && isThere(modern) ? modern : `${home}/.emacs.d`;
}

/** A string of Emacs Lisp. */
function lispText(text: string): string {
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}

/** A string of Kakoune in which nothing is expanded. */
function kakouneText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The name of a file in a command of Vim, as `fnameescape()` writes it. */
function vimName(path: string): string {
  return path.replaceAll(/[\s*?[{`$\\%#'"|!<]/g, "\\$&");
}

/** Other names of the same editors. */
export const EDITOR_ALIASES: Readonly<Record<string, string>> = {
  nvim: "neovim",
  kak: "kakoune",
  hx: "helix",
  code: "vscode",
};

/** A variable's path where it is one; relative ones count for nothing, as the standard for such folders says. */
function absolute(path: string | undefined): string | null {
  return path?.startsWith("/") ? path : null;
}
