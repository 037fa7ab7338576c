// Which writes take rights away and give none: all that an untrusted project may do, and for some keys a document.

import { isObject } from "../../base/is_object.ts";
import type { Op } from "../types.ts";
import type { Key } from "../schema/define.ts";

/** Whether a write takes rights away and gives none. `current` is asked for the weaker value of a number. */
export function narrows(op: Op, key: Key, value: unknown, current: () => unknown): boolean {
  switch (key.narrows) {
    case "true":
      return op === "set" && value === true;
    case "false":
      // A list of hosts is less than all of them.
      return op === "set" && (value === false || (isObject(value) && current() === true));
    case "remove":
      return op === "remove";
    case "append":
      return op === "append" || op === "prepend";
    case "restrict":
      return op !== "remove" && [value].flat().every((rule) => isObject(rule) && rule.approve === undefined);
    case "lower": {
      // Where nothing is said there is no limit.
      const size = (number: unknown) =>
        number === undefined || number === null || (number === 0 && key.zeroIsUnlimited)
          ? Infinity
          : Number(number);
      if (op !== "set") return false;
      if (isObject(value)) return lowers(value, current());
      return typeof value === "number" && size(value) <= size(current());
    }
    case undefined:
      return false;
  }
}

/** Whether a table of limits keeps every limit there is, and raises none. */
function lowers(value: Readonly<Record<string, unknown>>, current: unknown): boolean {
  return !isObject(current) ||
    Object.entries(current).every(([name, size]) => Number(value[name]) <= Number(size));
}
