// Members of the person's own that are added to every request of a provider.

import type { Settings } from "../../config/settings.generated.ts";
import { type JsonMembers, type JsonValue, Raw, toJsonValue } from "./json.ts";

/**
 * Adds the members of `providers.NAME.extra_body` to a body. They override members of flemma's own; of two objects, the
 * members are merged.
 */
export function withExtraBody(
  body: JsonMembers,
  settings: Pick<Settings, "providers">,
  provider: string,
): JsonMembers {
  const extra = settings.providers[provider]?.extra_body;
  if (extra === undefined || extra === null) return body;
  return merged(body, toJsonValue(extra) as JsonMembers);
}

function merged(body: JsonMembers, extra: JsonMembers): JsonMembers {
  const added = Object.entries(extra).map(([key, value]): [string, JsonValue | undefined] => {
    const own = Object.hasOwn(body, key) ? body[key] : undefined;
    return [key, isMembers(own) && isMembers(value) ? merged(own, value) : value];
  });
  return { ...body, ...Object.fromEntries(added) };
}

function isMembers(value: JsonValue | undefined): value is JsonMembers {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Raw);
}
