// Facts about the machine of a run: whether the user is the superuser, whether it looks like a container, and where
// helper programs are.

import type { Environment } from "../../base/environment.ts";
import { canBeSeen } from "../../base/files.ts";
import type { Outcome, Problem } from "../../base/problem.ts";
import { findProgram } from "./program.ts";
import type { Host, SharedNetwork } from "../types.ts";

export function createHost(
  environment: Environment,
  writable: readonly string[],
  notice: (problem: Problem) => void,
  sharedNetwork: () => SharedNetwork | null = () => null,
): Host {
  const programs = new Map<string, Outcome<string>>();
  return {
    environment,
    root: Deno.uid() === 0,
    container: looksLikeContainer(environment),
    notice,
    sharedNetwork,
    program(name) {
      let found = programs.get(name);
      if (found === undefined) programs.set(name, found = findProgram(name, environment, writable));
      return found;
    },
  };
}

/** Checks for traces of docker, podman and systemd-nspawn. */
function looksLikeContainer({ variables }: Environment): boolean {
  return Boolean(variables.container) || canBeSeen("/.dockerenv") || canBeSeen("/run/.containerenv");
}
