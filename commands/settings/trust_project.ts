// Trusts a project's settings file: its effects in words, and the code files it names.

import { draftLayer } from "../../config/layers/draft.ts";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { parentOf } from "../../base/paths.ts";
import { describeOperation } from "../../config/layers/words.ts";
import { namedFiles, trustedShare } from "../../config/sources/project.ts";
import { parseSource } from "../../config/sources/yaml.ts";
import { modulePath } from "../../config/schema/module_path.ts";
import { readText } from "../../config/sources/json_file.ts";
import { isTrusted, recordTrust } from "../../config/sources/trust.ts";
import { writeTree } from "../../config/layers/write_tree.ts";
import type { Trustable } from "../../agent/extensions/trustable.ts";

/** Returns the settings file at its real path. A file with mistakes is refused. */
export async function trustableProject(
  environment: Environment,
  path: string,
): Promise<Outcome<Trustable>> {
  const found = readText(path);
  if (!found.ok) return found;
  const text = found.value;
  if (text === null) return failure("file-unreadable", `${path} no longer exists.`);
  const read = await projectIn(environment, path, text);
  if (!read.ok) return read;
  const { lines, ignored, names } = read.value;
  return success({
    path,
    lines: [
      ...lines,
      ...names.map((name) => `runs the code of ${name} and of its imports`),
      ...ignored.map((key) => `(ignored: a project may not set ${key})`),
    ],
    nothing: "sets nothing",
    isAgreed: () => isTrusted(environment, path, text, { code: names }),
    agree: async () => {
      const recorded = await recordTrust(environment, path, text, { code: names }, new Date());
      return recorded.ok ? success(recorded.value.files.map((file) => `including ${file.path}`)) : recorded;
    },
    agreed: `${path} is trusted in its current version, until it changes.`,
  });
}

interface Project {
  readonly lines: readonly string[];
  readonly ignored: readonly string[];
  /** Code files that the settings file names. */
  readonly names: readonly string[];
}

async function projectIn(environment: Environment, path: string, text: string): Promise<Outcome<Project>> {
  const parsed = await parseSource(text);
  if (!parsed.ok) {
    const lines = parsed.problem.map(({ place, message }) => `${path}:${place}: ${message}`);
    return failure("config-invalid", lines.join("\n"), "Correct the file before you trust it.");
  }
  const folder = parentOf(path);
  const root = parentOf(folder);
  const module = (name: string) => modulePath(name, folder, environment.home);
  // Unknown tool names are accepted here; they are checked when the settings are used.
  const catalog = { ...BUILTIN_CATALOG, open: true };
  const draft = draftLayer({ layer: "P", others: [], catalog, module });
  const faults = writeTree(draft, parsed.value.value ?? {}, { catalog });
  if (faults.length > 0) {
    const lines = faults.map((fault) => `${path}:${parsed.value.place(fault)}: ${fault.message}`);
    return failure("config-invalid", lines.join("\n"), "Correct the file before you trust it.");
  }
  const { operations, ignored } = trustedShare(draft.log, root, environment.home);
  const refused = [
    ...ignored,
    ...draft.warnings.filter(({ code }) => code !== "config_old_key").map(({ key }) => key),
  ];
  return success({
    lines: operations.map(describeOperation),
    ignored: [...new Set(refused)],
    names: namedFiles(draft.log, root, environment.home),
  });
}
