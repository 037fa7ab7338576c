// Formatting of settings for people: values in YAML's flow style, rows in columns with the letters of their layers.

import type { Row } from "./explain.ts";
import { type Layer, LAYER_NAMES } from "../types.ts";

/** Formats a value on one line, as in a settings file. */
export function formatValue(value: unknown): string {
  if (typeof value === "function") return "(a function)";
  if (value === null || value === undefined) return "(none)";
  if (Array.isArray(value)) return `[${value.map(formatValue).join(", ")}]`;
  if (typeof value === "object") {
    return `{ ${
      Object.entries(value).map(([name, member]) => `${name}: ${formatValue(member)}`).join(", ")
    } }`
      .replace("{  }", "{}");
  }
  if (typeof value !== "string") return String(value);
  const plain = /^[A-Za-z$./~_][\w$./~:@%+ -]*$/.test(value) && !/: |\s$/.test(value) &&
    !/^(?:true|false|null|yes|no|on|off|~)$/i.test(value);
  return plain ? value : JSON.stringify(value);
}

/** Formats one line per row: letters of the layers, key, value. */
export function renderRows(rows: readonly Row[]): string {
  const letters = Math.max(1, ...rows.map((row) => row.layers.length));
  const keys = Math.max(0, ...rows.map((row) => row.key.length));
  return rows.map((row) => {
    const notes = [
      ...(row.excluded !== undefined && row.excluded.length > 0
        ? [`without ${row.excluded.join(", ")}`]
        : []),
      ...(row.hidden === undefined
        ? []
        : [`hides the ${LAYER_NAMES[row.hidden.layer]}'s ${formatValue(row.hidden.value)}`]),
    ];
    const note = notes.length === 0 ? "" : `   (${notes.join("; ")})`;
    return `${row.layers.join("").padEnd(letters)}  ${row.key.padEnd(keys)}  ${
      formatValue(row.value)
    }${note}\n`;
  }).join("");
}

export function renderLegend(layers: Iterable<Layer>): string {
  const present = new Set(layers);
  return (Object.keys(LAYER_NAMES) as Layer[]).filter((layer) => present.has(layer))
    .map((layer) => `${layer} ${LAYER_NAMES[layer]}`).join(", ");
}
