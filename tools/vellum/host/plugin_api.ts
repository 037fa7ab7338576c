// Values that tool files import from the published package they are written for; type imports need no runtime value.

/** Risk levels, in both spellings that files use. */
export const RiskLevel = Object.freeze({
  Low: "low",
  Medium: "medium",
  High: "high",
  LOW: "low",
  MEDIUM: "medium",
  HIGH: "high",
});

/** Returns its argument; files use it to type-check their definition. */
export const defineTool = <T>(tool: T): T => tool;

/**
 * Returns a value for a name that this program lacks. It may be imported and passed around; calling it, or a member of
 * it, throws an error that names it.
 */
export function missing(name: string): unknown {
  const refuse = (): never => {
    throw new Error(
      `${name} of @vellumai/plugin-api does not exist in flemma, which runs the tools of plugins and nothing else of them`,
    );
  };
  return new Proxy(function () {}, {
    // Symbols and then are asked for by the language itself, for example by await.
    get: (target, member) =>
      typeof member === "symbol" || member === "then" || member === "prototype"
        ? Reflect.get(target, member)
        : missing(`${name}.${member}`),
    apply: refuse,
    construct: refuse,
    set: refuse,
  });
}
