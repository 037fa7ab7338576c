// Settings and the environment of a run.

export type { Catalog, ToolFact } from "./schema/catalog.ts";
export { type Environment, processEnvironment } from "../base/environment.ts";
export { type DocumentSettings, documentSettings } from "./frontmatter.ts";
export { type Loaded, type LoadOptions, loadSettings } from "./load.ts";
export { nearest } from "./nearest.ts";
export { failure, type Outcome, type Problem, success, thrownText } from "../base/problem.ts";
export { DEFAULT_SETTINGS, type Settings } from "./settings.ts";
