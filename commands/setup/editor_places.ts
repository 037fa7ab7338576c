// The supported editors, the folders for their files, and what a person must do in addition.

import { isThere } from "../../base/files.ts";
import { operands } from "../../base/shell_word.ts";
import type { Environment } from "../../base/environment.ts";

export interface EditorPlace {
  /** The folder below `editors/` that holds the files. */
  readonly files: string;
  /** Returns the folder to install to; null if the files are lines for a person's own file. */
  folder(environment: Environment): string | null;
  /**
   * The only file to install, as a passage in the person's file; the other files are only printed. `conflict` matches
   * lines that conflict with the passage; no such line may exist outside of it. @default all files go into a folder of
   * their own
   */
  readonly passage?: { readonly file: string; readonly conflict: RegExp };
  /** The package of all files that is installed instead of them, and the program of the editor that takes it. */
  readonly pack?: { readonly file: string; readonly program: string; readonly install: readonly string[] };
  /** Returns what else the person must do, for files in `folder`; null if nothing. */
  next(folder: string): string | null;
}

/** Editors by the name that a person types. */
export const EDITOR_PLACES: Readonly<Record<string, EditorPlace>> = {
  vim: {
    files: "vim",
    folder: ({ home }) => `${home}/.vim/pack/flemma/start/flemma`,
    next: (folder) =>
      `Restart Vim. Your vimrc needs \`filetype plugin on\` and \`syntax on\`. For :help flemma, run once :helptags ${
        vimName(`${folder}/doc`)
      }`,
  },
  neovim: {
    files: "vim",
    folder: ({ home, variables }) =>
      `${absolute(variables.XDG_DATA_HOME) ?? `${home}/.local/share`}/nvim/site/pack/flemma/start/flemma`,
    next: (folder) => `Restart Neovim. For :help flemma, run once :helptags ${vimName(`${folder}/doc`)}`,
  },
  emacs: {
    files: "emacs",
    folder: ({ home, variables }) => `${emacsFolder(home, variables.XDG_CONFIG_HOME)}/flemma`,
    next: (folder) => `Add to your init file: (load ${lispText(`${folder}/flemma.el`)})`,
  },
  kakoune: {
    files: "kakoune",
    // A folder `autoload` in the person's settings would replace the one that comes with Kakoune.
    folder: ({ home, variables }) => `${absolute(variables.XDG_CONFIG_HOME) ?? `${home}/.config`}/kak/flemma`,
    next: (folder) => `Add to your kakrc: source ${kakouneText(`${folder}/flemma.kak`)}`,
  },
  helix: {
    files: "helix",
    folder: ({ home, variables }) => `${absolute(variables.XDG_CONFIG_HOME) ?? `${home}/.config`}/helix`,
    passage: {
      file: "languages.toml",
      conflict: /^\s*\[language-server\.flemma\]|^\s*flemma\s*=|^\s*name\s*=\s*["']chat["']/m,
    },
    next: () => "Restart Helix. To print keys for your config.toml: flemma editor helix --print",
  },
  vscode: {
    files: "vscode",
    // Sandboxed commands cannot write there.
    folder: ({ home }) => `${home}/.vscode/flemma`,
    pack: { file: "flemma.vsix", program: "code", install: ["--force", "--install-extension"] },
    next: (folder) =>
      `Install it: code --install-extension ${operands(`${folder}/flemma.vsix`)}\n` +
      `Or run the command "Extensions: Install from VSIX…" in VS Code and choose that file.`,
  },
  ...Object.fromEntries(
    // Key bindings for the filter, to be added to a person's own settings.
    ["micro", "nano", "vis"].map((name) => [name, { files: name, folder: () => null, next: () => null }]),
  ),
};

/** Returns the folder that Emacs reads: `.emacs.d` if it exists, else the settings folder. */
function emacsFolder(home: string, settings: string | undefined): string {
  const modern = `${absolute(settings) ?? `${home}/.config`}/emacs`;
  return !isThere(`${home}/.emacs.d`) && isThere(modern) ? modern : `${home}/.emacs.d`;
}

/** Quotes a string for Emacs Lisp. */
function lispText(text: string): string {
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}

/** Quotes a string for Kakoune without expansion. */
function kakouneText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Escapes a file name for a Vim command, like `fnameescape()`. */
function vimName(path: string): string {
  return path.replaceAll(/[\s*?[{`$\\%#'"|!<]/g, "\\$&");
}

export const EDITOR_ALIASES: Readonly<Record<string, string>> = {
  nvim: "neovim",
  kak: "kakoune",
  hx: "helix",
  code: "vscode",
};

/** Returns an absolute path from a variable, else null, because the XDG specification says to ignore relative paths. */
function absolute(path: string | undefined): string | null {
  return path?.startsWith("/") ? path : null;
}
