// Detects writes that only restrict rights. An untrusted project may make only such writes; for some keys, this is also
// true of a document.

import { isObject } from "../../base/is_object.ts";
import type { Op } from "../types.ts";
import type { SettingKey } from "../schema/define.ts";

/** True if a write only restricts rights. `current` returns the value from the layers with lower precedence. */
export function narrows(op: Op, key: SettingKey, value: unknown, current: () => unknown): boolean {
  switch (key.narrows) {
    case "true":
      return op === "set" && value === true;
    case "earlier": {
      const words: readonly unknown[] = key.type.is === "word" ? key.type.words : [];
      const at = words.indexOf(value);
      return op === "set" && at >= 0 && at <= words.indexOf(current());
    }
    case "false":
      // Allowing a list of hosts is a restriction if all hosts were allowed before.
      return op === "set" && (value === false || (isObject(value) && current() === true));
    case "remove":
      return op === "remove";
    case "append":
      return op === "append" || op === "prepend";
    case "subset": {
      // Without a list, everything is allowed.
      const allowed = current();
      if (op === "remove") return Array.isArray(allowed);
      return op === "set" && Array.isArray(value) &&
        (!Array.isArray(allowed) ||
          value.every((each) => allowed.some((domain) => covers(String(domain), String(each)))));
    }
    case "restrict":
      return op !== "remove" && [value].flat().every((rule) => isObject(rule) && rule.approve === undefined);
    case "lower": {
      // Without a value, there is no limit.
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

/** True if a domain is another one or above it: `docs.rs` covers `static.docs.rs`. */
export function covers(domain: string, other: string): boolean {
  const [wide, narrow] = [domain.toLowerCase(), other.toLowerCase()];
  return wide === narrow || narrow.endsWith(`.${wide}`);
}

/** True if a table of limits keeps every existing limit and raises none. */
function lowers(value: Readonly<Record<string, unknown>>, current: unknown): boolean {
  return !isObject(current) ||
    Object.entries(current).every(([name, size]) => Number(value[name]) <= Number(size));
}
