// Limits on the size of input schemas. Servers and files of others write them, and a schema that no model could be
// sent must not occupy this program.

import { isObject } from "../../base/is_object.ts";

/** Maximum number of schemas, lists and tables in a schema. A larger one takes seconds to compile. */
const MOST_PARTS = 2_500;
/** Maximum number of values of all kinds, such as the values of an enumeration. */
const MOST_VALUES = 20_000;
/** Maximum number of levels. Functions that recurse into a deeper one would exceed the stack. */
const DEEPEST = 100;

/** Returns why a schema is too large, as the end of a sentence; null if it is not. */
export function schemaExcess(schema: unknown): string | null {
  let [parts, values] = [0, 0];
  let level: readonly unknown[] = [schema];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return `its input schema has more than ${DEEPEST} levels`;
    const next: unknown[] = [];
    for (const value of level) {
      values++;
      if (!Array.isArray(value) && !isObject(value)) continue;
      parts++;
      for (const inner of Object.values(value)) next.push(inner);
      if (parts > MOST_PARTS || values + next.length > MOST_VALUES) return "its input schema is too large";
    }
    level = next;
  }
  return null;
}
