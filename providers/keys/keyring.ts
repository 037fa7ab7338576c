// Access to the system's keyring: the Secret Service through `secret-tool`, or the macOS keychain.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { CredentialKind } from "./types.ts";
import { askHelper, findHelper, type HelperAnswer } from "./key_program.ts";

export interface Keyring {
  readonly name: string;
  /** Returns the key of a service, or the reason why there is none. */
  lookup(service: string, kind: CredentialKind): Promise<HelperAnswer>;
  /** Stores a key, replacing the previous one; returns the problem if that fails. */
  store(service: string, kind: CredentialKind, key: string): Promise<Problem | null>;
  /** Removes the key that `lookup` finds; true if there was one. */
  remove(service: string, kind: CredentialKind): Promise<Outcome<boolean>>;
}

/** Kind under which older programs stored all keys that are not tokens. */
const OLDER_KIND = "api";

/** Returns the keyring of this system; null if none is usable. */
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

/** Returns the names under which a key may be stored, in lookup order. */
function kindsOf(kind: CredentialKind): readonly string[] {
  return kind === "access_token" ? [kind] : [kind, OLDER_KIND];
}

function secretService(program: string, environment: Environment): Keyring {
  const ask = (words: readonly string[], input?: string) =>
    askHelper([program, ...words], { environment, input });
  const lookup = async (service: string, kind: string): Promise<HelperAnswer> => {
    const answer = await ask(["lookup", "service", service, "key", kind]);
    // The program exits with 1 and prints nothing if there is no such key.
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
      // The command is passed on standard input, because other users could see a key in the arguments of a process.
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

/** Reason for not finding a key in a keyring that works. */
export const NO_KEY = "it does not contain the key";

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
    `The keyring failed: ${answer.reason.replace(/\.$/, "")}.`,
    "Unlock it, or set the key in an environment variable.",
  ).problem;
}
