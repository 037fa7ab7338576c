// The keyring of the system: the Secret Service by way of `secret-tool`, or the keychain of macOS.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { KeyKind } from "./types.ts";
import { askHelper, findHelper, type HelperAnswer } from "./key_program.ts";

/** Where keys lie that the person handed over once. */
export interface Keyring {
  /** As messages call it. */
  readonly name: string;
  /** The key of a service; a reason when there is none. */
  lookup(service: string, kind: KeyKind): Promise<HelperAnswer>;
  /** Puts a key in place of the one before; answers with what is in the way. */
  store(service: string, kind: KeyKind, key: string): Promise<Problem | null>;
  /** Takes away what `lookup` finds; true when there was something. */
  remove(service: string, kind: KeyKind): Promise<Outcome<boolean>>;
}

/** The name under which older programs kept keys of any kind but tokens. */
const OLDER_KIND = "api";

/** The keyring of this system; null when it has none that can be asked. */
export function systemKeyring(
  environment: Environment,
  system: typeof Deno.build.os = Deno.build.os,
): Keyring | null {
  if (system === "darwin") {
    const program = findHelper("security", environment);
    return program === null ? null : keychain(program, environment);
  }
  const program = system === "linux" ? findHelper("secret-tool", environment) : null;
  return program === null ? null : secretService(program, environment);
}

/** The kinds under which a key may lie, in the order in which they are asked. */
function kindsOf(kind: KeyKind): readonly string[] {
  return kind === "access_token" ? [kind] : [kind, OLDER_KIND];
}

function secretService(program: string, environment: Environment): Keyring {
  const ask = (words: readonly string[], input?: string) =>
    askHelper([program, ...words], { environment, input });
  const lookup = async (service: string, kind: string): Promise<HelperAnswer> => {
    const answer = await ask(["lookup", "service", service, "key", kind]);
    // It ends with 1 and without a word where there is no such key.
    const isNone = "output" in answer ? answer.output.trim() === "" : answer.reason === "it ended with 1";
    return isNone ? { reason: NO_KEY } : answer;
  };
  return {
    name: "the keyring (secret-tool)",
    lookup: (service, kind) => first(kindsOf(kind), (each) => lookup(service, each)),
    async store(service, kind, key) {
      const words = ["store", `--label=flemma: ${service}`, "service", service, "key", kind];
      return problemOf(await ask(words, key));
    },
    remove: (service, kind) =>
      removeAll(
        kindsOf(kind),
        (each) => lookup(service, each),
        async (each) => problemOf(await ask(["clear", "service", service, "key", each])),
      ),
  };
}

function keychain(program: string, environment: Environment): Keyring {
  const ask = (words: readonly string[], input?: string) =>
    askHelper([program, ...words], { environment, input });
  const lookup = async (service: string, kind: string): Promise<HelperAnswer> => {
    const answer = await ask(["find-generic-password", "-s", service, "-a", kind, "-w"]);
    return "reason" in answer && /could not be found|ended with 44$/i.test(answer.reason)
      ? { reason: NO_KEY }
      : answer;
  };
  return {
    name: "the keychain (security)",
    lookup: (service, kind) => first(kindsOf(kind), (each) => lookup(service, each)),
    async store(service, kind, key) {
      // Commands on its standard input, so that the key is no argument that others could see.
      const words = ["add-generic-password", "-U", "-s", service, "-a", kind, "-w", key].map(quoted);
      return problemOf(await ask(["-i"], `${words.join(" ")}\n`));
    },
    remove: (service, kind) =>
      removeAll(
        kindsOf(kind),
        (each) => lookup(service, each),
        async (each) => problemOf(await ask(["delete-generic-password", "-s", service, "-a", each])),
      ),
  };
}

/** What a keyring that can be used and has no such key says. */
export const NO_KEY = "it holds no such key";

function quoted(word: string): string {
  return `"${word.replace(/["\\]/g, "\\$&")}"`;
}

async function first(
  kinds: readonly string[],
  lookup: (kind: string) => Promise<HelperAnswer>,
): Promise<HelperAnswer> {
  let answer: HelperAnswer = { reason: NO_KEY };
  for (const kind of kinds) {
    answer = await lookup(kind);
    if ("output" in answer || answer.reason !== NO_KEY) return answer;
  }
  return answer;
}

async function removeAll(
  kinds: readonly string[],
  lookup: (kind: string) => Promise<HelperAnswer>,
  remove: (kind: string) => Promise<Problem | null>,
): Promise<Outcome<boolean>> {
  let removed = false;
  for (const kind of kinds) {
    const found = await lookup(kind);
    if ("reason" in found && found.reason === NO_KEY) continue;
    const problem = "reason" in found ? problemOf(found) : await remove(kind);
    if (problem !== null) return { ok: false, problem };
    removed = true;
  }
  return success(removed);
}

function problemOf(answer: HelperAnswer): Problem | null {
  if ("output" in answer) return null;
  return failure(
    "keyring-failed",
    `The keyring did not do it: ${answer.reason.replace(/\.$/, "")}.`,
    "Unlock it, or set the key as a variable.",
  ).problem;
}
