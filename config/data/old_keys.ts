// Keys that a settings file may hold and that are no settings (any more): of earlier versions, and of flemma.nvim.

/** What became of a key. */
export interface OldKey {
  /** Ends the sentence that begins with the key. */
  readonly says: string;
  /** The key that took its place, and that what is written goes to. */
  readonly now?: readonly string[];
  /** The editor plugin flemma.nvim reads it. Editors accept it in a settings file, so that one file serves both. */
  readonly isEditors?: boolean;
}

const EDITORS: OldKey = {
  says: "has no effect here; it belongs to the editor plugin flemma.nvim",
  isEditors: true,
};
const NEWER: OldKey = { says: "has no effect here; it belongs to newer versions of flemma.nvim" };

/** Add a row when a key goes away or gets another name. */
export const OLD_KEYS: Readonly<Record<string, OldKey>> = {
  "ui.usage": EDITORS,
  "ui.progress": EDITORS,
  "ui.statusline": EDITORS,
  editing: EDITORS,
  highlights: EDITORS,
  line_highlights: EDITORS,
  ruler: EDITORS,
  turns: EDITORS,
  keymaps: EDITORS,
  integrations: EDITORS,
  lsp: EDITORS,
  notifications: { says: 'has no effect here; in flemma.nvim it is "ui.progress" now' },
  progress: { says: 'has no effect here; in flemma.nvim it is "ui.progress" now' },
  pricing: { says: 'is "ui.pricing" now', now: ["ui", "pricing"] },
  experimental: { says: "has no effect: tools are always on, and nothing else is experimental" },
  logging: {
    says: "has no effect: no log is written. To see the latest messages: flemma status --last FILE",
  },
  diagnostics: { says: "has no effect. To see a request: flemma send --dry-run FILE" },
  "templating.modules": { says: "has no effect: Lua in the frontmatter adds names to templates" },
  "tools.pending_press": { says: "has no effect. To run a pending call: flemma execute FILE" },
  "tools.show_spinner": { says: "has no effect here; editors show what runs in their own way" },
  "tools.store": NEWER,
  "tools.jobs": NEWER,
};

/** What became of the key; null for any other. */
export function oldKey(key: string): OldKey | null {
  return Object.hasOwn(OLD_KEYS, key) ? OLD_KEYS[key]! : null;
}
