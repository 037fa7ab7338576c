// Names that frontmatter must not replace, available without starting Lua.

export { BUILTIN_NAMES } from "../../lua/library/names.ts";
