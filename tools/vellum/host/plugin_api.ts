// What tool files find under the name of the published package they are written against: values; types vanish before.

/** The bands of risk, by both spellings in which files name them. */
export const RiskLevel = Object.freeze({
  Low: "low",
  Medium: "medium",
  High: "high",
  LOW: "low",
  MEDIUM: "medium",
  HIGH: "high",
});

/** Gives back what it is given: for files that have their definition checked by type. */
export const defineTool = <T>(tool: T): T => tool;
