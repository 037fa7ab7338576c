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
