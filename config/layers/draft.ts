// A layer under construction. Every write is checked immediately, and reads see all layers.

import { success } from "../../base/problem.ts";
import { isObject } from "../../base/is_object.ts";
import type { Catalog } from "../schema/catalog.ts";
import {
  itemMismatches,
  kindOf,
  type Mismatch,
  mismatches,
  mismatchSentence,
  takesObjects,
} from "../schema/check.ts";
import { findKey, type KeyMatch } from "../schema/keys.ts";
import { LayerLog, sortLogs } from "./log.ts";
import { modulesIn } from "../schema/module_path.ts";
import { referenceFaults } from "./references.ts";
import { narrows } from "./narrowing.ts";
import {
  type FaultCode,
  type Layer,
  LAYER_NAMES,
  type LayerAnswer,
  type LayerDraft,
  MOST_FINDINGS,
  type Op,
  type SettingFault,
  type SettingKind,
  type SettingOperation,
} from "../types.ts";
import { prefixedSteps } from "../data/prefixed_list.ts";
import { presetWrites } from "./preset_parameters.ts";
import { readPreset } from "./presets.ts";
import type { Group, SettingKey } from "../schema/define.ts";
import { isNewerName } from "../schema/tools.ts";
import { groupList, isPresetPath, resolveValue } from "./resolve.ts";

export interface DraftOptions {
  readonly layer: Layer;
  /** All other layers, in ascending order of precedence. */
  readonly others: readonly LayerLog[];
  readonly catalog: Catalog;
  /** Returns the absolute path of a named module. If absent, this layer may not name a module. */
  readonly module?: (path: string) => string;
  /**
   * True if values come from Lua. Then `[]` is any empty table, and the first fault of a table ends the reading of
   * that table.
   */
  readonly lua?: boolean;
}

/**
 * Limits that are far above what people write. Replaying a list costs its length times its operations, so a loop that
 * writes settings must stop before that becomes slow.
 */
const MOST_OPERATIONS = 1000;
const MOST_ITEMS = 1000;
const LONGEST_TEXT = 4096;

export function draftLayer(options: DraftOptions): LayerDraft & { readonly log: LayerLog } {
  return new Draft(options);
}

class Draft implements LayerDraft {
  readonly layer: Layer;
  readonly log: LayerLog;
  readonly warnings: SettingFault[] = [];
  readonly #logs: readonly LayerLog[];
  readonly #catalog: Catalog;
  readonly #lua: boolean;
  readonly #module: ((path: string) => string) | undefined;

  constructor({ layer, others, catalog, lua, module }: DraftOptions) {
    this.#module = module;
    this.layer = layer;
    this.log = new LayerLog(layer);
    this.#logs = sortLogs([...others, this.log]);
    this.#catalog = catalog;
    this.#lua = lua ?? false;
  }

  get operations(): readonly SettingOperation[] {
    return this.log.operations;
  }

  kind(keys: readonly string[]): LayerAnswer<SettingKind> {
    const found = findKey(keys, this.#catalog);
    if (!found.ok) return found;
    const { node, member } = found.value;
    if (node.node === "group") return success(node.list === undefined ? "object" : "tools");
    // Members of an old key can be written in the same ways as members of a table.
    if (node.node === "old") return success("object");
    if (member !== undefined) return success("scalar");
    return success(node.record ? "record" : node.type.is === "list" ? "list" : "scalar");
  }

  canonical(keys: readonly string[]): LayerAnswer<string> {
    const found = findKey(keys, this.#catalog);
    if (!found.ok) return found;
    const { path, member } = found.value;
    return success([...path, ...(member === undefined ? [] : [member])].join("."));
  }

  read(keys: readonly string[]): LayerAnswer<unknown> {
    const found = findKey(keys, this.#catalog);
    if (!found.ok) return found;
    const { node, path, member } = found.value;
    if (node.node === "old") return success(null);
    const key = path.join(".");
    if (node.node === "group") {
      if (node.list !== undefined) return success(groupList(this.#logs, path, node.list, this.#catalog));
      return {
        ok: false,
        problem: fault(
          "config_not_assignable",
          key,
          `"${key}" is a table of settings and has no value of its own`,
        ),
      };
    }
    const value = resolveValue(this.#logs, path, node);
    return success(member !== undefined && isObject(value) ? value[member] ?? null : value);
  }

  apply(op: Op, keys: readonly string[], value: unknown): readonly SettingFault[] {
    const found = findKey(keys, this.#catalog);
    if (!found.ok) return [found.problem];
    const { old, node } = found.value;
    const faults = this.#write(op, found.value, value);
    if (old !== undefined) {
      const isAccepted = faults.length === 0 && (old.now === undefined || node.node !== "old");
      this.#warnOfOld(old, keys, isAccepted);
      return [];
    }
    return faults.map(({ below = [], ...fault }) => ({ written: [...keys, ...below], ...fault }));
  }

  finish(): readonly SettingFault[] {
    return referenceFaults(this.log, this.#logs, this.#catalog);
  }

  #write(op: Op, { path, node, member }: KeyMatch, value: unknown): readonly SettingFault[] {
    if (node.node === "old") return [];
    if (node.node === "group") return this.#writeGroup(op, path, node, value);
    if (member === undefined) return this.#writeKey(op, path, node, value);
    if (op !== "set") return [notAList(path, node)];
    const whole = resolveValue(this.#logs, path, node);
    return this.#writeKey("set", path, node, { ...(isObject(whole) ? whole : {}), [member]: value });
  }

  #writeGroup(op: Op, path: readonly string[], group: Group, value: unknown): readonly SettingFault[] {
    const key = path.join(".");
    if (op !== "set") {
      return group.list === undefined ? [notAList(path, group)] : this.#writeKey(op, path, group.list, value);
    }
    if (Array.isArray(value)) {
      if (group.list !== undefined) return this.#writeKey("set", path, group.list, value);
      if (this.#lua && value.length === 0) return [];
      const hint = group.hint?.(value);
      const more = hint === undefined ? "" : `: ${hint}`;
      return [fault("config_not_a_list", key, `"${key}" is a table of settings, not a list${more}`)];
    }
    const isOn = group.isOnWhenWritten === true && this.layer !== "M" && this.layer !== "P";
    const members = isObject(value) ? { ...(isOn ? { enabled: true } : {}), ...value } : group.short?.(value);
    if (members === undefined) {
      return [fault("config_not_assignable", key, noGroup(key, group, value))];
    }
    const faults: SettingFault[] = [];
    for (const [name, member] of Object.entries(members)) {
      if (this.#lua && /^\d+$/.test(name)) {
        faults.push(
          fault(
            "config_not_assignable",
            key,
            `"${key}" takes a list or a table of settings, not both`,
          ),
        );
      } else {
        faults.push(...this.apply("set", [...path, name], member));
      }
      if (this.#lua && faults.length > 0) break;
    }
    return faults;
  }

  #writeKey(op: Op, path: readonly string[], key: SettingKey, written: unknown): readonly SettingFault[] {
    const name = path.join(".");
    const steps = op === "set" ? prefixedSteps(name, written) : null;
    if (steps !== null) return steps.flatMap(([step, value]) => this.#writeKey(step, path, key, value));
    const allowed = this.#withoutNewDomains(op, name, key, written);
    const given = this.#withoutNewerNames(op, name, this.#withoutGrants(op, name, key, allowed));
    if (given === undefined) return [];
    const refusal = this.#authority(op, name, key, given);
    if (refusal !== null) {
      if (this.layer === "C") return [{ ...refusal, code: "config_invalid_value", severity: "error" }];
      this.#warn(refusal);
      return [];
    }
    if (this.log.operations.length >= MOST_OPERATIONS) {
      return [tooMany(name)];
    }
    const items = isPresetPath(path) ? namesIn(given) : Array.isArray(given) ? given : [given];
    const excess = items.length > MOST_ITEMS
      ? `more than ${MOST_ITEMS} items`
      : items.some((item) => typeof item === "string" && item.length > LONGEST_TEXT)
      ? `a string of more than ${LONGEST_TEXT} characters`
      : null;
    if (excess !== null) return [fault("config_invalid_value", name, `"${name}" contains ${excess}`)];
    if (op === "set") return this.#set(path, key, given);
    if (key.type.is !== "list") return [notAList(path, key)];
    if (key.callable && typeof this.log.on(name).at(-1)?.value === "function") {
      return [
        fault(
          "config_not_a_list",
          name,
          `"${name}" is a function here; you cannot add or remove items`,
        ),
      ];
    }
    const faults: SettingFault[] = [];
    for (const item of items) {
      if (this.log.operations.length >= MOST_OPERATIONS) return [...faults, tooMany(name)];
      const wrong = op === "remove" ? [] : itemMismatches(key.type.item, item);
      if (wrong.length > 0) faults.push(...wrong.map((mismatch) => invalid(path, mismatch)));
      else for (const value of this.#kept(name, key, [item])) this.log.push({ op, path, value });
      if (this.#lua && faults.length > 0) break;
    }
    return faults;
  }

  #set(path: readonly string[], key: SettingKey, given: unknown): readonly SettingFault[] {
    const name = path.join(".");
    if (given === null || given === undefined) {
      if (!key.optional) return [fault("config_invalid_value", name, `"${name}" needs a value`)];
      this.log.push({ op: "set", path, value: null });
      return [];
    }
    if (isPresetPath(path)) {
      const read = readPreset(path, given);
      if ("faults" in read) return read.faults;
      const writes = presetWrites(read.preset, path.at(-1)!);
      if (!writes.ok) {
        const found = fault("config_invalid_value", name, writes.problem.message);
        return [
          writes.problem.suggestion === undefined
            ? found
            : { ...found, suggestion: writes.problem.suggestion },
        ];
      }
      this.log.push({ op: "set", path, value: read.preset });
      return [];
    }
    if (key.callable && typeof given === "function") {
      this.log.push({ op: "set", path, value: given });
      return [];
    }
    const empty = this.#lua && Array.isArray(given) && given.length === 0;
    const value = empty && key.type.is === "map" ? {} : key.long === undefined ? given : key.long(given);
    if (Array.isArray(value) && key.type.is !== "list" && !takesObjects(key.type)) {
      return [fault("config_not_a_list", name, `"${name}" takes one value, not a list`)];
    }
    const wrong = mismatches(key.type, value);
    if (wrong.length > 0) {
      // A short form is reported as written, not in its expanded form.
      const written = key.type.is === "custom" && !isObject(given) ? mismatches(key.type, given) : [];
      return (written.length > 0 ? written : wrong).slice(0, MOST_FINDINGS).map((each) =>
        invalid(path, each)
      );
    }
    this.log.push({ op: "set", path, value: Array.isArray(value) ? this.#kept(name, key, value) : value });
    return [];
  }

  /** Returns the items with absolute module paths, without modules that this layer may not name. */
  #kept(name: string, key: SettingKey, items: readonly unknown[]): readonly unknown[] {
    return key.callable || key.loads ? this.#withModules(name, items) : items;
  }

  #value(name: string, key: SettingKey): unknown {
    return resolveValue(this.#logs, name.split("."), key);
  }

  /** Returns the part of an allow list that was allowed before, with a warning about the rest. */
  #withoutNewDomains(op: Op, name: string, key: SettingKey, given: unknown): unknown {
    const mayOnlyNarrow = this.layer === "M" ? key.documentNarrows : this.layer === "P" && key.projectNarrows;
    if (key.narrows !== "subset" || !mayOnlyNarrow || op !== "set" || !Array.isArray(given)) return given;
    const kept = given.filter((item) => narrows("set", key, [item], () => this.#value(name, key)));
    if (kept.length === given.length) return given;
    this.#warn({
      code: "config_ignored_value",
      severity: "warning",
      key: name,
      message: `"${name}" may only name what was allowed before; the rest is ignored`,
    });
    return kept;
  }

  /** Removes a document's grants, with a warning, from a list whose items each restrict or grant. */
  #withoutGrants(op: Op, name: string, key: SettingKey, given: unknown): unknown {
    if (key.narrows !== "restrict" || this.layer !== "M" || op === "remove" || !Array.isArray(given)) {
      return given;
    }
    const kept = given.filter((item) => narrows("append", key, item, () => null));
    if (kept.length === given.length) return given;
    this.#warn({
      code: "config_ignored_value",
      severity: "warning",
      key: name,
      message:
        `"${name}" in a document may ask and deny, but not approve; put approvals into your own settings`,
    });
    return kept.length === 0 ? undefined : kept;
  }

  /** Removes approvals that a document of flemma.nvim writes differently, with a warning. The calls then ask. */
  #withoutNewerNames(op: Op, name: string, given: unknown): unknown {
    if (name !== "tools.auto_approve" || this.layer !== "M" || op === "remove") return given;
    const items = Array.isArray(given) ? given : [given];
    const newer = items.filter(isNewerName);
    if (newer.length === 0) return given;
    this.#warn({
      code: "config_ignored_value",
      severity: "warning",
      key: name,
      message: `"${name}" contains ${newer.join(", ")}, which only flemma.nvim understands; ` +
        "write the names that flemma tools list shows",
    });
    const kept = items.filter((item) => !isNewerName(item));
    return op !== "set" && kept.length === 0 ? undefined : kept;
  }

  /** Warns once of each old key. A value that its replacement does not accept is not an error. */
  #warnOfOld(
    { key, says }: NonNullable<KeyMatch["old"]>,
    written: readonly string[],
    isAccepted: boolean,
  ): void {
    const warning: SettingFault = {
      code: "config_old_key",
      severity: "warning",
      key,
      message: `"${key}" ${says}${isAccepted ? "" : "; the new key does not accept this value"}`,
      written,
      atKey: true,
    };
    const earlier = this.warnings.findIndex((each) => each.code === warning.code && each.key === key);
    if (earlier < 0) this.#warn(warning);
    else if (!isAccepted) this.warnings[earlier] = warning;
  }

  #warn(fault: SettingFault): void {
    if (this.warnings.length < MOST_FINDINGS) this.warnings.push(fault);
  }

  /** Makes module paths absolute. Code is loaded only for the person, never for a document or a session. */
  #withModules(name: string, given: readonly unknown[]): readonly unknown[] {
    if (modulesIn(given).length === 0) return given;
    const module = this.#module;
    if (module !== undefined) {
      return given.map((item) =>
        modulesIn(item).length === 0
          ? item
          : isObject(item)
          ? { ...item, path: module(String(item.path)) }
          : module(String(item))
      );
    }
    for (const path of modulesIn(given)) {
      this.#warn({
        code: "config_ignored_value",
        severity: "warning",
        key: name,
        message: `"${name}" names the module ${path}, but the ${LAYER_NAMES[this.layer]} may not load code`,
      });
    }
    return given.filter((item) => modulesIn(item).length === 0);
  }

  #authority(op: Op, name: string, key: SettingKey, value: unknown): SettingFault | null {
    const ignored = (reason: string): SettingFault => ({
      code: "config_ignored_value",
      severity: "warning",
      key: name,
      message: `"${name}" ${reason}`,
    });
    if (!key.who.includes(this.layer)) {
      return ignored(
        key.host
          ? `may only be set in your own settings, not by the ${LAYER_NAMES[this.layer]}`
          : `may not be set by the ${LAYER_NAMES[this.layer]}`,
      );
    }
    if (this.layer === "M" && key.personal?.includes(value)) {
      return ignored(
        `may be ${JSON.stringify(value)} only in your own settings, not in the ${LAYER_NAMES.M}`,
      );
    }
    const mayOnlyNarrow = this.layer === "M" ? key.documentNarrows : this.layer === "P" && key.projectNarrows;
    if (!mayOnlyNarrow || narrows(op, key, value, () => this.#value(name, key))) return null;
    return ignored(
      `in a ${this.layer === "M" ? "document" : "project"} may only become stricter${
        key.narrows === "append"
          ? ": append to it"
          : key.narrows === "restrict"
          ? ": use ask and deny"
          : key.narrows === "subset"
          ? ": name a part of it"
          : key.narrows === "lower"
          ? ": lower it"
          : key.narrows === "earlier"
          ? `: set it to ${key.type.is === "word" ? key.type.words[0] : "less"}`
          : `: set it to ${key.narrows}`
      }`,
    );
  }
}

function tooMany(name: string): SettingFault {
  return fault("config_invalid_value", name, `there are more than ${MOST_OPERATIONS} settings`);
}

function namesIn(preset: unknown): unknown[] {
  return isObject(preset) ? [preset.approve, preset.auto_approve, preset.deny].flat() : [preset];
}

function noGroup(key: string, group: Group, value: unknown): string {
  const hint = group.hint?.(value);
  if (group.short !== undefined && hint !== undefined) {
    return `"${key}" takes true, false or settings, found ${kindOf(value)}: ${hint}`;
  }
  return `"${key}" expects a table of settings, found ${kindOf(value)}`;
}

function notAList(path: readonly string[], node: SettingKey | Group): SettingFault {
  const key = path.join(".");
  return fault(
    "config_not_a_list",
    key,
    `"${key}" is ${node.node === "group" ? "a table of settings" : "one value"}, not a list`,
  );
}

function invalid(path: readonly string[], mismatch: Mismatch): SettingFault {
  const { at, part, isUnknown, suggestion } = mismatch;
  const code = isUnknown ? "config_unknown_key" : "config_invalid_value";
  return {
    ...fault(code, [...path, ...at].join("."), mismatchSentence(path.join("."), mismatch)),
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(at.length === 0 ? {} : { below: at }),
    ...(isUnknown ? { atKey: true } : {}),
    ...(part === undefined ? {} : { item: part }),
  };
}

function fault(code: FaultCode, key: string, message: string): SettingFault {
  return { code, severity: "error", key, message };
}
