// Decides which changes that commands made to a git configuration stay: only additions that run no program and do not
// lead git elsewhere.

import { type PlacedSetting, readGitSettings, settingAsText } from "./settings_file.ts";
import type { SettingValues } from "./removed_settings.ts";
import { settingEffect } from "./settings_table.ts";

/** A change of a setting that is undone after the commands. */
export interface RefusedChange {
  readonly key: string;
  /** The values before and after; none if the setting was missing. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly reason: "runs" | "leads" | "changed";
}

/** What a configuration should contain after commands. */
export interface CheckedSettings {
  readonly text: string;
  /** Empty if the text stays as it is. */
  readonly refused: readonly RefusedChange[];
  /** Settings with an address or a path for git that the commands removed, with their values. */
  readonly removed: SettingValues;
}

/** What the decision needs to know about the repository. */
export interface RepositoryFacts {
  /** Whether the repository has a branch of this name now. */
  hasBranch(name: string): boolean;
  /** Whether this value of `core.worktree` names the folder of the repository's own submodule. */
  isOwnWorktree(value: string): boolean;
}

/**
 * Checks the settings of a repository that existed before the commands. Null if git would refuse one of the texts.
 *
 * @param before the text before, or null if there was none
 * @param removedEarlier settings that earlier commands removed; they may be set again only to their old values
 */
export function checkChangedSettings(
  before: string | null,
  after: string,
  facts: RepositoryFacts,
  removedEarlier: SettingValues = new Map(),
): CheckedSettings | null {
  const now = readGitSettings(after);
  const { settings: old, valid } = readGitSettings(before ?? "");
  if (!now.valid || !valid) return null;
  const values = { before: valuesOf(old), after: valuesOf(now.settings) };
  const refused: RefusedChange[] = [];
  const accepted = new Set<string>();
  const removed = new Map<string, readonly string[]>();
  const known = new Map<string, readonly string[]>([...removedEarlier, ...values.before]);
  for (const key of new Set([...values.before.keys(), ...values.after.keys()])) {
    const change = { key, before: known.get(key) ?? [], after: values.after.get(key) ?? [] };
    const reason = isSame(change.before, change.after) ? null : refusal(change, known, facts);
    if (reason !== null) refused.push({ ...change, reason });
    else if (!isSame(values.before.get(key) ?? [], change.after)) accepted.add(key);
    if (reason === null && change.after.length === 0 && LEADS_AFTER_REMOVAL.test(key)) {
      removed.set(key, change.before);
    }
  }
  if (refused.length === 0) return { text: after, refused, removed };
  const kept = without(before ?? "", old, ({ key }) => accepted.has(key));
  const added = now.settings.filter(({ key }) => accepted.has(key)).map(settingAsText);
  const returned = refused.filter(({ key }) => !values.before.has(key))
    .flatMap(({ key, before }) => before.map((value) => settingAsText({ key, value })));
  return { text: [kept, ...added, ...returned].reduce(joined), refused, removed };
}

/**
 * Checks the settings of a repository that commands made: only what runs something does not stay. Null if git would
 * refuse the text.
 *
 * @param before the text before the last commands, or null. Settings that it has stay: a person may have added them.
 */
export function checkNewSettings(
  before: string | null,
  after: string,
  facts: Pick<RepositoryFacts, "isOwnWorktree">,
  removedEarlier: SettingValues = new Map(),
): CheckedSettings | null {
  const now = readGitSettings(after);
  if (!now.valid) return null;
  const old = valuesOf(readGitSettings(before ?? "").settings);
  const returned = returnedElsewhere(valuesOf(now.settings), old, removedEarlier);
  if (returned.length > 0) {
    // What leads git elsewhere than before is replaced; what is left is checked as always.
    const changed = new Map(returned.map((change) => [change.key, change]));
    const kept = without(after, now.settings, ({ key }) => changed.has(key));
    const put = returned.flatMap(({ key, before }) => before.map((value) => settingAsText({ key, value })));
    const checked = checkNewSettings(before, [kept, ...put].reduce(joined), facts);
    return checked === null ? null : { ...checked, refused: [...returned, ...checked.refused] };
  }
  const isRefused = ({ key, value }: PlacedSetting) =>
    (settingEffect(key, value) === "runs" || (key === "core.worktree" && !facts.isOwnWorktree(value))) &&
    !old.get(key)?.includes(value);
  const refused = now.settings.filter(isRefused).map(({ key, value }): RefusedChange => ({
    key,
    before: [],
    after: [value],
    reason: key === "core.worktree" ? "leads" : "runs",
  }));
  return {
    text: refused.length === 0 ? after : without(after, now.settings, isRefused),
    refused,
    removed: new Map(),
  };
}

/** The settings of a repository that lead git to other servers: they must not return with another value. */
export function leadingSettings(text: string): SettingValues {
  return new Map([...valuesOf(readGitSettings(text).settings)].filter(([key]) => LEADS_TO_SERVER.test(key)));
}

/** Settings of a repository that a command removed as a whole, if it is there again and they have other values. */
function returnedElsewhere(
  now: SettingValues,
  old: SettingValues,
  removedEarlier: SettingValues,
): RefusedChange[] {
  return [...removedEarlier].flatMap(([key, before]): RefusedChange[] => {
    const after = now.get(key);
    const isKept = after === undefined || old.has(key) || isSame(before, after);
    return isKept || !LEADS_TO_SERVER.test(key) ? [] : [{ key, before, after, reason: "changed" }];
  });
}

interface Change {
  readonly key: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Details of an existing remote that git itself adds and that do not change where it leads. */
const REMOTE_DETAILS = /\.(?:promisor|partialclonefilter|tagopt|prune|prunetags|gh-resolved)$/;

/** Settings that commands may remove, but not add again with another value. */
const LEADS_AFTER_REMOVAL = /^(?:branch\..*\.(?:remote|pushremote)|submodule\..*\.url)$/s;

const LEADS_TO_SERVER =
  /^(?:remote\..*\.(?:url|pushurl)|branch\..*\.(?:remote|pushremote)|submodule\..*\.url)$/s;

/** Settings that git itself changes when a repository gets another feature, with their values. */
const FORMAT =
  /^(?:core\.(?:repositoryformatversion|sparsecheckout|sparsecheckoutcone)|extensions\.worktreeconfig)$/;

/** Why a change does not stay; null if it does. */
function refusal(
  { key, before, after }: Change,
  old: ReadonlyMap<string, readonly string[]>,
  { hasBranch, isOwnWorktree }: RepositoryFacts,
): RefusedChange["reason"] | null {
  if (after.some((value) => settingEffect(key, value) === "runs")) return "runs";
  const [, section = "", name = ""] = /^(remote|branch|submodule)\.(.*)\.[^.]*$/s.exec(key) ?? [];
  const isNew = ![...old.keys()].some((each) => section !== "" && each.startsWith(`${section}.${name}.`));
  if (before.length > 0) {
    if (FORMAT.test(key)) return null;
    if (section === "submodule" && after.length === 0) return null;
    if (section !== "branch") return "changed";
    if (after.length === 0 && !hasBranch(name)) return null;
    return /\.(?:remote|pushremote)$/.test(key) ? "changed" : null;
  }
  if (key === "core.worktree" && after.every(isOwnWorktree)) return null;
  if (section !== "" && isNew) return null;
  if (section === "remote") return REMOTE_DETAILS.test(key) ? null : "leads";
  if (section === "branch") return key.endsWith(".pushremote") ? "leads" : null;
  return after.some((value) => settingEffect(key, value) === "leads") ? "leads" : null;
}

function valuesOf(settings: readonly PlacedSetting[]): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const { key, value } of settings) values.set(key, [...values.get(key) ?? [], value]);
  return values;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at]);
}

/** The text without some of its settings. */
function without(
  text: string,
  settings: readonly PlacedSetting[],
  isCut: (setting: PlacedSetting) => boolean,
): string {
  const kept = settings.filter((setting) => !isCut(setting));
  const parts: string[] = [];
  let at = 0;
  for (const setting of settings.filter(isCut)) {
    parts.push(text.slice(at, setting.start));
    at = setting.end;
  }
  const cut = [...parts, text.slice(at)].join("");
  const again = readGitSettings(cut);
  const isRight = again.valid && again.settings.length === kept.length &&
    kept.every(({ key, value }, index) =>
      again.settings[index]!.key === key && again.settings[index]!.value === value
    );
  return isRight ? cut : kept.map(settingAsText).join("");
}

function joined(text: string, more: string): string {
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${more}`;
}

/** A change that does not stay, as a sentence. */
export function refusedSentence({ key, before, after, reason }: RefusedChange): string {
  const [was, is] = [shown(before), shown(after)];
  if (before.length === 0) {
    const effect = reason === "runs" ? "git would run it" : "it leads git elsewhere";
    return `${key} = ${is} was taken out, because ${effect}`;
  }
  if (after.length === 0) return `${key} was removed and is ${was} again`;
  return `${key} was changed to ${is} and is ${was} again`;
}

/** Values for a message, without passwords. */
function shown(values: readonly string[]): string {
  return values.map((value) => value.replace(/(:\/\/)[^/@\s]*@/, "$1…@").slice(0, 200)).join(", ");
}
