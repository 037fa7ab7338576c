// Settings of the sandbox: its policy, its limits, its backends.

import { isObject } from "../../base/is_object.ts";
import { isModulePath } from "./module_path.ts";
import { DEFAULT_PROTECT, DEFAULT_RW_PATHS } from "../settings.ts";
import { BOOLEAN, group, hostKey, key, policyKey, STRING, STRINGS, type Type } from "./define.ts";
import { asEnabled } from "./switch.ts";

const rwPathType: Type = {
  is: "custom",
  expected: "a path, or { path, create }",
  accepts(value) {
    if (typeof value === "string") return value !== "";
    if (!isObject(value)) return false;
    const { path, create, ...rest } = value;
    return typeof path === "string" && path !== "" && (create === undefined || typeof create === "boolean") &&
      Object.keys(rest).length === 0;
  },
  json: {
    anyOf: [
      { type: "string" },
      {
        type: "object",
        properties: { path: { type: "string" }, create: { type: "boolean" } },
        required: ["path"],
        additionalProperties: false,
      },
    ],
  },
};

const networkType: Type = {
  is: "custom",
  expected: "true, false, or { allow } with a list of hosts",
  accepts: (value) =>
    typeof value === "boolean" ||
    (isObject(value) && Object.keys(value).join() === "allow" && Array.isArray(value.allow) &&
      value.allow.every((host) => typeof host === "string" && host !== "")),
  json: {
    anyOf: [{ type: "boolean" }, {
      type: "object",
      properties: { allow: { type: "array", items: { type: "string" } } },
      required: ["allow"],
      additionalProperties: false,
    }],
  },
};

const LIMITS = ["cpu_seconds", "memory", "file_size", "processes", "open_files", "tmp_size"];

const limitsType: Type = {
  is: "custom",
  expected: `a table of whole numbers above 0: ${LIMITS.join(", ")}`,
  accepts: (value) =>
    isObject(value) &&
    Object.entries(value).every(([name, size]) =>
      LIMITS.includes(name) && Number.isSafeInteger(size) && Number(size) > 0
    ),
  json: {
    type: "object",
    properties: Object.fromEntries(LIMITS.map((name) => [name, { type: "integer", minimum: 1 }])),
    additionalProperties: false,
  },
};

export const sandbox = group("The sandbox around shell commands.", {
  enabled: key(BOOLEAN, "Run tools inside it.", { default: true, narrows: "true" }),
  backend: key(STRING, "`auto`, `required`, or the name of a backend.", {
    default: "auto",
    awaits: "backends from files",
    awaitsWhen: (value) => typeof value === "string" && isModulePath(value),
  }),
  policy: group("What is allowed inside.", {
    rw_paths: key({ is: "list", item: rwPathType }, "Writable paths; everything else is read-only.", {
      default: DEFAULT_RW_PATHS,
      narrows: "remove",
    }),
    network: key(
      networkType,
      "Whether the network can be reached: all of it, none, or { allow } with a list of hosts.",
      {
        default: true,
        narrows: "false",
      },
    ),
    allow_privileged: key(BOOLEAN, "Whether privileges are kept.", { default: false, narrows: "false" }),
    sockets: policyKey(STRINGS, "Host sockets that stay reachable: paths, or names of groups.", {
      default: [],
    }),
    block_unix_sockets: policyKey(BOOLEAN, "No local sockets at all.", {
      default: false,
      who: ["G", "P", "M", "C"],
      narrows: "true",
      documentNarrows: true,
    }),
    deny_read: policyKey(STRINGS, "Paths that cannot be read; `$secrets` stands for a shipped list.", {
      default: [],
      who: ["G", "P", "M", "C"],
      narrows: "append",
      documentNarrows: true,
    }),
    protect: policyKey(
      STRINGS,
      "Paths that stay read-only inside writable ones; a `$word` stands for a shipped list.",
      {
        default: DEFAULT_PROTECT,
        who: ["G", "P", "M", "C"],
        narrows: "append",
        documentNarrows: true,
      },
    ),
    limits: policyKey(limitsType, "What one command may use.", {
      optional: true,
      who: ["G", "P", "M", "C"],
      narrows: "lower",
      documentNarrows: true,
    }),
  }),
  backends: group("Settings of each backend.", {
    bwrap: group("Bubblewrap.", {
      path: hostKey(STRING, "The program.", { default: "bwrap" }),
      extra_args: hostKey(STRINGS, "Further arguments; they can undo the policy.", { default: [] }),
    }),
    container: group("An outer container as the only barrier.", {
      trusted: hostKey(BOOLEAN, "Take the container around this program for the sandbox.", {
        default: false,
      }),
    }),
  }, {
    others: group("Settings of another backend.", {}, {
      others: hostKey({ is: "any" }, "A setting the backend reads.", { optional: true }),
    }),
  }),
}, { short: asEnabled });
