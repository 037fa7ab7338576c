// The names that a first block may not take, known without starting Lua.

export { BUILTIN_NAMES } from "../../lua/library/names.ts";
