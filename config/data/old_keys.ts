// Keys without effect in settings files: from earlier versions, and from flemma.nvim.

export interface OldKey {
  /** Text that ends the sentence which begins with the key. */
  readonly says: string;
  /** The key that replaces the old key and receives its value. */
  readonly now?: readonly string[];
  /**
   * True if the editor plugin flemma.nvim reads the key. Editors accept such a key, so that one settings file can
   * serve both programs.
   */
  readonly isEditors?: boolean;
}

const EDITORS: OldKey = {
  says: "has no effect here; it belongs to the editor plugin flemma.nvim",
  isEditors: true,
};
const NEWER: OldKey = { says: "has no effect here; it belongs to newer versions of flemma.nvim" };

/** Old keys. Add a row when a key is removed or renamed. */
export const OLD_KEYS: Readonly<Record<string, OldKey>> = {
  "ui.usage": EDITORS,
  "ui.progress": EDITORS,
  "ui.statusline": EDITORS,
  "ui.jobs": EDITORS,
  "ui.rejection": EDITORS,
  editing: EDITORS,
  highlights: EDITORS,
  line_highlights: EDITORS,
  ruler: EDITORS,
  turns: EDITORS,
  keymaps: EDITORS,
  integrations: EDITORS,
  lsp: EDITORS,
  notifications: { says: 'has no effect here; flemma.nvim now calls it "ui.progress"' },
  progress: { says: 'has no effect here; flemma.nvim now calls it "ui.progress"' },
  pricing: { says: 'is now "ui.pricing"', now: ["ui", "pricing"] },
  experimental: { says: "has no effect: tools are always on, and nothing else is experimental" },
  logging: {
    says:
      "has no effect, because flemma writes no log. To see the latest messages: flemma status --last FILE",
  },
  diagnostics: { says: "has no effect. To see a request: flemma advance FILE --no-tools --dry-run" },
  "templating.modules": { says: "has no effect: Lua in the frontmatter adds names to templates" },
  "tools.pending_press": { says: "has no effect. To run a pending call: flemma advance FILE --only TARGET" },
  "tools.show_spinner": { says: "has no effect here; each editor shows running calls in its own way" },
  "tools.store": NEWER,
  "tools.autopilot.resume_delay": NEWER,
  "secrets.chatgpt": NEWER,
  "tools.mcporter.path": { says: "has no effect; flemma no longer starts mcporter" },
  "tools.mcporter.startup": { says: "has no effect; flemma no longer starts mcporter" },
  "tools.mcporter.timeout": { says: "has no effect; use mcp.servers.NAME.timeout for each server" },
  "tools.mcporter.include": { says: "has no effect; use mcp.servers.NAME.include for each server" },
  "tools.mcporter.exclude": { says: "has no effect; use mcp.servers.NAME.exclude for each server" },
};

/** True if a warning about a settings file is about a key that this program shares with the editor plugin. */
export function isAboutEditorsKey(warning: string): boolean {
  return warning.endsWith(EDITORS.says);
}

export function oldKey(key: string): OldKey | null {
  return Object.hasOwn(OLD_KEYS, key) ? OLD_KEYS[key]! : null;
}
