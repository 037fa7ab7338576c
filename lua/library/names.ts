// The names that every Lua environment of a document has from the start, known without starting an engine.

/** No variable of a document may take the place of one of these. */
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
