// Settings schema of the sandbox: policy, limits and backends.

import { isObject } from "../../base/is_object.ts";
import { mismatches } from "./check.ts";
import {
  BOOLEAN,
  group,
  hostKey,
  key,
  natural,
  policyKey,
  STRING,
  STRINGS,
  type Type,
  word,
} from "./define.ts";
import {
  HIDDEN_WORDS,
  NO_HOME,
  pathItem,
  pathMistake,
  PROTECT_WORDS,
  socketMistake,
  WRITABLE_WORDS,
} from "./sandbox_words.ts";
import { asEnabled, SANDBOX_MODES, switchHint } from "../data/values.ts";

const path = pathItem(WRITABLE_WORDS, "a path");

const rwPathType: Type = {
  is: "custom",
  ts: "RwPath",
  expected: "a path, or { path, create }",
  accepts(value) {
    if (!isObject(value)) return fits(path, value);
    const { path: inner, create, ...rest } = value;
    return fits(path, inner) && (create === undefined || typeof create === "boolean") &&
      Object.keys(rest).length === 0;
  },
  members: { path, create: BOOLEAN },
  hint: (value) =>
    value === null
      ? NO_HOME
      : typeof value === "string"
      ? pathMistake(value, WRITABLE_WORDS)?.hint
      : undefined,
  suggest: (value) => typeof value === "string" ? pathMistake(value, WRITABLE_WORDS)?.suggestion : undefined,
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

/** A host in a network rule. This catches common mistakes, while the sandbox checks the full grammar. */
const host: Type = {
  is: "custom",
  ts: "string",
  expected: "a host such as example.org, example.org:8080, *.example.org, an IP address or an address range",
  accepts: (value) =>
    typeof value === "string" && /^[^\s/@]+(?:\/\d{1,3}(?::(?:\d+|\*))?)?$/.test(value) && value !== "*",
  hint: (value) =>
    value === "*"
      ? "for all hosts, write `network: true`"
      : typeof value === "string" && /[/\s@]/.test(value)
      ? "write only the host"
      : undefined,
  suggest: (value) => typeof value === "string" ? hostIn(value) : undefined,
  json: { type: "string" },
};

/** Extracts the host from a URL; undefined if there is none. */
function hostIn(value: string): string | undefined {
  const found = /^\s*(?:[a-z][a-z\d+.-]*:\/\/)?(?:[^/@\s]*@)?([^/\s?#@]+)(?:[/?#]\S*)?\s*$/i.exec(value)?.[1];
  return found === undefined || found === value || !found.includes(".") ? undefined : found;
}

const HOSTS: Type = { is: "list", item: host };

const networkType: Type = {
  is: "custom",
  ts: "boolean | NetworkList",
  expected: "true, false, or { allow } with a list of hosts",
  accepts: (value) =>
    typeof value === "boolean" ||
    (isObject(value) && Object.keys(value).join() === "allow" && fits(HOSTS, value.allow)),
  members: { allow: HOSTS },
  hint: (value) => Array.isArray(value) ? "write { allow: [HOST] }" : switchHint(value),
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
  ts: "ResourceLimits",
  expected: `a table of whole numbers above 0: ${LIMITS.join(", ")}`,
  accepts: (value) =>
    isObject(value) &&
    Object.entries(value).every(([name, size]) => LIMITS.includes(name) && fits(natural(1), size)),
  members: Object.fromEntries(LIMITS.map((name) => [name, natural(1)])),
  json: {
    type: "object",
    properties: Object.fromEntries(LIMITS.map((name) => [name, { type: "integer", minimum: 1 }])),
    additionalProperties: false,
  },
};

const socketItem = pathItem([], "a path or a group name", socketMistake);
const hiddenItem = pathItem(HIDDEN_WORDS, `a path or ${HIDDEN_WORDS.join(", ")}`);
const protectItem = pathItem(PROTECT_WORDS, `a path or one of ${PROTECT_WORDS.join(", ")}`);

function fits(type: Type, value: unknown): boolean {
  return mismatches(type, value).length === 0;
}

export const sandboxGroup = group("The sandbox for shell commands.", {
  enabled: key(BOOLEAN, "Run tools in the sandbox.", { default: true, narrows: "true" }),
  backend: key(
    STRING,
    "The backend: `auto`, `required`, or a name. Only your own settings may name `landlock`.",
    {
      default: "auto",
      personal: ["landlock"],
    },
  ),
  home_caches: hostKey(
    word("private", "shared"),
    "What `urn:flemma:caches` stands for: `private` caches of flemma, or your own cache and data folders, `shared`.",
    { default: "private" },
  ),
  policy: group("What commands in the sandbox may do.", {
    rw_paths: key({ is: "list", item: rwPathType }, "Writable paths; everything else is read-only.", {
      default: [
        "urn:flemma:cwd",
        "urn:flemma:buffer:path",
        "/tmp",
        "${TMPDIR:-/tmp}",
        "urn:flemma:caches",
      ],
      narrows: "remove",
    }),
    network: key(
      networkType,
      "Network access: all hosts, none, or { allow } with a list of hosts.",
      {
        default: true,
        narrows: "false",
      },
    ),
    allow_privileged: key(BOOLEAN, "Let commands keep the superuser's privileges.", {
      default: false,
      narrows: "false",
    }),
    sockets: policyKey(
      { is: "list", item: socketItem },
      "Host sockets that commands may use: paths or group names.",
      {
        default: [],
      },
    ),
    block_unix_sockets: policyKey(BOOLEAN, "Block all local (Unix) sockets.", {
      default: false,
      who: ["G", "P", "M", "C"],
      narrows: "true",
      documentNarrows: true,
    }),
    deny_read: policyKey(
      { is: "list", item: hiddenItem },
      "Paths that commands cannot read; `$secrets` is a built-in list.",
      {
        default: [],
        who: ["G", "P", "M", "C"],
        narrows: "append",
        documentNarrows: true,
      },
    ),
    protect: policyKey(
      { is: "list", item: protectItem },
      "Paths that stay read-only inside writable ones; each `$word` is a built-in list.",
      {
        default: PROTECT_WORDS,
        who: ["G", "P", "M", "C"],
        narrows: "append",
        documentNarrows: true,
      },
    ),
    limits: policyKey(limitsType, "Resource limits of one command.", {
      optional: true,
      who: ["G", "P", "M", "C"],
      narrows: "lower",
      documentNarrows: true,
    }),
  }),
  backends: group("Settings for each backend.", {
    bwrap: group("Bubblewrap.", {
      path: hostKey(STRING, "Name or path of the program.", { default: "bwrap" }),
      extra_args: hostKey(STRINGS, "Additional arguments; they can override the policy.", { default: [] }),
    }),
    container: group("A container around flemma, used as the sandbox.", {
      trusted: hostKey(BOOLEAN, "Treat the container that flemma runs in as the sandbox.", {
        default: false,
      }),
    }, { holds: "written" }),
  }, {
    others: group("Settings for another backend.", {}, {
      others: hostKey({ is: "any" }, "A setting of this backend.", { optional: true }),
    }),
  }),
}, {
  ts: "SandboxSettings",
  short: asEnabled,
  hint: (value) =>
    typeof value === "string" && Object.hasOwn(SANDBOX_MODES, value)
      ? `write ${SANDBOX_MODES[value]}`
      : switchHint(value),
});
