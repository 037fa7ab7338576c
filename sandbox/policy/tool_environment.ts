// The environment of tools' child processes: the caller's, without secrets and without prompts that wait.

import type { ToolSettings } from "../../config/settings.generated.ts";
import { isAddressWithCredentials, isCredential, isProviderKey } from "./credentials.ts";
import { SOCKET_VARIABLES } from "./sockets.ts";

/**
 * Text that the editor of tools prints before it fails. If it succeeded without doing anything, git would rewrite
 * history silently.
 */
const NO_EDITOR = [
  "No editor is available. Give the text on the command line:",
  "git commit -m TEXT, or --no-edit to keep the existing message.",
  "To continue a rebase, cherry-pick or revert: GIT_EDITOR=true git ... --continue.",
  "To finish a merge: git commit --no-edit.",
  "For git rebase -i: GIT_SEQUENCE_EDITOR=COMMAND, where COMMAND edits the list in the file passed to it.",
].join(" ");

/**
 * A command for `sh -c`, as git and similar programs run an editor. The paths of the files to edit follow this
 * command.
 */
const FAILING_EDITOR = `sh -c 'echo "${NO_EDITOR}" >&2; exit 1' editor`;

/** Keeps programs from opening a pager, an editor or a prompt that nobody could answer, and turns off colors. */
const UNATTENDED: Readonly<Record<string, string>> = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  EDITOR: FAILING_EDITOR,
  VISUAL: FAILING_EDITOR,
  GIT_EDITOR: FAILING_EDITOR,
  GIT_SEQUENCE_EDITOR: FAILING_EDITOR,
  NO_COLOR: "1",
};

/** Editor variables of single programs, which override EDITOR if they are set. */
const OTHER_EDITORS: readonly string[] = [
  "CVSEDITOR",
  "FCEDIT",
  "HGEDITOR",
  "JJ_EDITOR",
  "KUBE_EDITOR",
  "SUDO_EDITOR",
  "SVN_EDITOR",
  "SYSTEMD_EDITOR",
];

/**
 * Variables that lead `cd` and git away from the folder a command runs in. Git sets some of them for hooks and
 * aliases, from which this program may have been started. Those of git are the variables that `git rev-parse
 * --local-env-vars` lists, except those that carry settings.
 */
const MISLEADING: readonly string[] = [
  "CDPATH",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_DIR",
  "GIT_GRAFT_FILE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_NAMESPACE",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_QUARANTINE_PATH",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_WORK_TREE",
];

/**
 * Length of the shortest value that counts as a key. A shorter value, such as a port or a word, may occur in two
 * variables by chance.
 */
const SHORTEST_KEY = 16;

/** Options of `toolEnvironment`. */
export interface EnvironmentOptions {
  /** True if the command is wrapped. */
  readonly sandboxed: boolean;
  /** Variables that stay because the policy keeps their sockets. */
  readonly kept?: readonly string[];
  /** Variables that replace those of the caller inside the sandbox. A variable that `pass` names is not replaced. */
  readonly added?: Readonly<Record<string, string>>;
  /**
   * True for an MCP server of the person's own settings, which insert variables by name. Of all credentials, only the
   * keys of model providers are then withheld.
   */
  readonly passCredentials?: boolean;
}

type Variables = Readonly<Record<string, string>>;
type EnvSettings = Omit<ToolSettings["env"], "keys"> & { readonly keys?: readonly string[] };

/**
 * Filters `variables` for tools. Drops credentials, other variables with the same value, addresses with credentials,
 * and variables that lead git and `cd` to another folder. Inside the sandbox, also drops addresses of sockets that act
 * with the person's authority, and sets `added`. Always sets the variables for unattended use, except those whose
 * exact name is in `pass` or `block`.
 *
 * `pass` keeps variables, `block` drops more and takes precedence; both contain names, in which `*` matches anything.
 *
 * @param variables the caller's environment
 * @param settings `tools.env`; `keys` names further variables with credentials
 * @param options whether the command is wrapped, and what the policy keeps or adds
 * @returns the complete environment for a child process
 */
export function toolEnvironment(
  variables: Readonly<Record<string, string>>,
  settings: Omit<ToolSettings["env"], "keys"> & { readonly keys?: readonly string[] },
  options: EnvironmentOptions,
): Record<string, string> {
  const withheld = new Set(withheldVariables(variables, settings, options));
  const left = Object.entries(variables).filter(([name]) => !withheld.has(name));
  const passed = settings.pass.map(namePattern);
  const isOwn = (name: string) => Object.hasOwn(variables, name) && passed.some((each) => each.test(name));
  const added = Object.entries(options.sandboxed ? options.added ?? {} : {}).filter(([name]) => !isOwn(name));
  const overridden = OTHER_EDITORS.filter((name) => Object.hasOwn(variables, name));
  const unattended = {
    ...UNATTENDED,
    ...Object.fromEntries(overridden.map((name) => [name, FAILING_EDITOR])),
  };
  const asked = ({ block, pass }: EnvSettings, name: string) =>
    block.includes(name) || (pass.includes(name) && Object.hasOwn(variables, name));
  return {
    ...Object.fromEntries(left),
    ...Object.fromEntries(added),
    ...Object.fromEntries(Object.entries(unattended).filter(([name]) => !asked(settings, name))),
  };
}

/** The names among `variables` that tools do not get, sorted. */
export function withheldVariables(
  variables: Variables,
  settings: EnvSettings,
  { sandboxed, kept = [], passCredentials = false }: EnvironmentOptions,
): string[] {
  const matches = (patterns: readonly RegExp[], name: string) => patterns.some((each) => each.test(name));
  const blocked = settings.block.map(namePattern);
  const passed = settings.pass.map(namePattern);
  const isWithheld = passCredentials ? isProviderKey : isCredential;
  const holdsKey = (name: string) => isWithheld(name) || (settings.keys ?? []).includes(name);
  const secret = ([name]: readonly [string, string]) => holdsKey(name) && !matches(passed, name);
  const values = new Set(Object.entries(variables).filter(secret).map(([, value]) => value));
  const isKept = (name: string) => !sandboxed || kept.includes(name) || !SOCKET_VARIABLES.includes(name);
  return Object.entries(variables).filter(([name, value]) => {
    if (matches(blocked, name)) return true;
    if (matches(passed, name)) return false;
    return holdsKey(name) || (!passCredentials && isAddressWithCredentials(name, value)) ||
      (value.length >= SHORTEST_KEY && values.has(value)) ||
      MISLEADING.includes(name) || !isKept(name);
  }).map(([name]) => name).sort();
}

function namePattern(pattern: string): RegExp {
  const literal = pattern.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${literal.join(".*")}$`, "s");
}
