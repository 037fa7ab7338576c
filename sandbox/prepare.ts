// From the pure argument list to one that works on this machine (sandbox 7.2), and the report whether it did (6.3).

import { failure, type Outcome, type Problem, success, thrownText } from "../config/problem.ts";
import { type Additions, bwrapArguments, bwrapSettings } from "./bwrap.ts";
import { classifySetupFailure } from "./failures.ts";
import type { ResolvedPolicy } from "./policy.ts";
import { protectionMounts } from "./protect.ts";
import { isInside } from "./realpath.ts";
import { makeRuntimeFolder } from "./runtime.ts";
import type { BackendConfig, BackendPreparation, Host, Policy } from "./types.ts";

/**
 * The policy as it can be mounted now: asked-for folders are made, missing writable paths left out. A missing path
 * that a person listed gives a notice; one of the default policy does not. `protect` becomes the policy's own.
 */
export function mountablePolicy(
  policy: ResolvedPolicy,
  protect: readonly string[],
): { policy: Policy; notices: Problem[] } {
  const notices: Problem[] = [];
  for (const path of policy.create) makeFolder(path, notices);
  const present = policy.writable.filter(({ path, entry, byDefault }) => {
    if (["/dev", "/proc"].some((hidden) => isInside(path, hidden))) notices.push(hiddenPath(path));
    const reason = absence(path);
    if (reason !== null && !(byDefault && reason === "does not exist")) {
      notices.push(absentPath(path, entry, reason));
    }
    return reason === null;
  });
  return {
    policy: {
      rw_paths: present.map(({ path }) => path),
      network: policy.network,
      allow_privileged: policy.allow_privileged,
      protect,
    },
    notices,
  };
}

/** The descriptor that the status of bubblewrap is written to. Shells can open only single digits everywhere. */
const STATUS_DESCRIPTOR = "9";

/**
 * Opens the file `$0` as that descriptor and becomes the rest of the command line. Deno hands on no descriptors
 * of its own. The file must not exist yet: whoever can write to its folder could have put a link there.
 */
const HAND_OVER = `set -C; exec ${STATUS_DESCRIPTOR}>"$0"; set +C; exec "$@"`;

/** `Backend.prepare` of bubblewrap. `policy` holds existing paths only. */
export async function prepareBwrap(
  policy: Policy,
  config: BackendConfig,
  inner: readonly string[],
  host: Host,
): Promise<Outcome<BackendPreparation>> {
  const settings = bwrapSettings(config);
  if (!settings.ok) return settings;
  const program = host.program(settings.value.path);
  if (!program.ok) return program;
  const additions: Additions = {
    mounts: protectionMounts(policy.protect, policy.rw_paths),
    options: [
      // The superuser keeps its capabilities in its own namespace and could mount everything writable again.
      ...(host.root && !policy.allow_privileged ? ["--cap-drop", "ALL"] : []),
      ...["--json-status-fd", STATUS_DESCRIPTOR],
    ],
  };
  const wrapped = bwrapArguments(policy, { ...settings.value, path: program.value }, inner, additions);
  const opened = await statusFile(host);
  if (!opened.ok) return opened;
  const status = opened.value;
  return success({
    argv: ["/bin/sh", "-c", HAND_OVER, status.path, ...wrapped],
    fingerprint: wrapped,
    setupFailure: async (stderr, signal) => {
      const report = await status.read();
      if (report.ran || signal) return null;
      // Without the name of the signal: a set-up that got as far as a child and then said nothing was killed.
      if (signal === undefined && report.started && stderr.trim() === "") return null;
      return classifySetupFailure(stderr, host.container);
    },
    dispose: () => status.remove(),
  });
}

interface StatusFile {
  readonly path: string;
  read(): Promise<{ started: boolean; ran: boolean }>;
  remove(): Promise<void>;
}

/**
 * A name for a status file that does not exist yet, in a folder only this user can write to. Fails with
 * `no-private-folder`.
 */
async function statusFile({ environment }: Host): Promise<Outcome<StatusFile>> {
  const lasting = makeRuntimeFolder(environment);
  let folder: string;
  try {
    folder = lasting ?? await Deno.makeTempDir({ prefix: "flemma-" });
  } catch (thrown) {
    return failure(
      "no-private-folder",
      `No folder for the status of the sandbox could be made: ${thrownText(thrown)}`,
      "Set XDG_RUNTIME_DIR or XDG_STATE_HOME to a folder that you may write to.",
    );
  }
  const path = `${folder}/status-${crypto.randomUUID()}`;
  return success({
    path,
    async read() {
      const text = await readRegularFile(path);
      return { started: text.includes('"child-pid"'), ran: text.includes('"exit-code"') };
    },
    remove: () => removeIfThere(lasting === null ? folder : path),
  });
}

/** Empty when the file is missing, or when something else took its place, which could block the reader. */
async function readRegularFile(path: string): Promise<string> {
  try {
    const { isFile } = await Deno.lstat(path);
    return isFile ? await Deno.readTextFile(path) : "";
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return "";
    throw thrown;
  }
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}

function makeFolder(path: string, notices: Problem[]): void {
  try {
    Deno.mkdirSync(path, { recursive: true });
  } catch (thrown) {
    if (thrown instanceof Deno.errors.AlreadyExists) return; // A file is fine as an entry.
    notices.push({
      code: "writable-path-not-made",
      message: `The writable path ${path} could not be made.`,
      next: "Make it yourself, or take it out of sandbox.policy.rw_paths.",
    });
  }
}

/** Why a path cannot be mounted, or null. */
function absence(path: string): string | null {
  try {
    Deno.statSync(path);
    return null;
  } catch (thrown) {
    const missing = thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory;
    return missing ? "does not exist" : "may not be looked at";
  }
}

function absentPath(path: string, entry: string, reason: string): Problem {
  return {
    code: "writable-path-missing",
    message: `The writable path ${path} (from "${entry}") ${reason}, so commands run without it.`,
    next: "Make it, or write {path: …, create: true} in sandbox.policy.rw_paths.",
  };
}

function hiddenPath(path: string): Problem {
  return {
    code: "hidden-writable-path",
    message: `The writable path ${path} has no effect: the sandbox has a /dev and a /proc of its own.`,
    next: "Take it out of sandbox.policy.rw_paths.",
  };
}
