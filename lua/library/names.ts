// The built-in names of every Lua environment of a document, known without starting an engine.

/** Names that variables of a document must not have. */
export const BUILTIN_NAMES: ReadonlySet<string> = new Set([
  "string",
  "table",
  "math",
  "os",
  "utf8",
  "vim",
  "assert",
  "error",
  "ipairs",
  "pairs",
  "pcall",
  "select",
  "tonumber",
  "tostring",
  "type",
  "print",
  "_VERSION",
  "format",
  "values",
  "each",
  "include",
  "symbols",
  "__filename",
  "__dirname",
]);
