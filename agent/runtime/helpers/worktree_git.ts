// Runs git for the worktrees of helpers: in a sandbox, without hooks, filters and the network.

import type { Environment } from "../../../base/environment.ts";
import { type GitRun, runGit, type RunSandbox } from "../../../sandbox/mod.ts";
import { sandboxOf } from "../../sandbox.ts";
import type { SubjectSettings } from "../../settings.ts";
import { withoutFilters } from "./repository.ts";

/** A document whose settings apply, or the working folder. */
export interface WorktreeSubject {
  readonly environment: Environment;
  /** Real path of the document; null for the working folder. */
  readonly path: string | null;
  readonly subject: Pick<SubjectSettings, "settings" | "loaded">;
}

/** The text that git wrote, or why it did not answer, as the end of a sentence. */
export type GitText =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly why: string };

export class WorktreeGit {
  readonly #subject: WorktreeSubject;
  readonly #reading: RunSandbox;

  constructor(subject: WorktreeSubject) {
    this.#subject = subject;
    this.#reading = this.#sandbox([]);
  }

  /** Runs git where it can write nothing. */
  async ask(run: GitRun): Promise<GitText> {
    return await this.#run(this.#reading, run);
  }

  /** Runs git where it can write only to these paths. */
  async change(writable: readonly string[], run: GitRun): Promise<GitText> {
    return await this.#run(this.#sandbox(writable), run);
  }

  /** Lists changes that are not in a commit. */
  async status(cwd: string, paths: readonly string[]): Promise<GitText> {
    const config = await this.withoutFilters(cwd);
    if (!config.ok) return config;
    const args = ["status", "--porcelain", "--untracked-files=normal", ...paths];
    return await this.ask({ cwd, args, config: config.value });
  }

  /** Returns the settings by which git runs no filter of the repository. */
  async withoutFilters(cwd: string) {
    const names = await this.ask({ cwd, args: ["config", "--list", "--name-only", "-z"] });
    return names.ok ? { ok: true, value: withoutFilters(names.value.split("\0")) } as const : names;
  }

  #sandbox(rw_paths: readonly string[]): RunSandbox {
    const { environment, path, subject: { settings, loaded } } = this.#subject;
    const policy = { ...settings.sandbox.policy, rw_paths, network: false, protect: [] };
    return sandboxOf(environment, { path }, {
      settings: { ...settings, sandbox: { ...settings.sandbox, policy } },
      loaded,
    });
  }

  async #run(sandbox: RunSandbox, run: GitRun): Promise<GitText> {
    const answer = await runGit(sandbox, this.#subject.environment, run);
    return answer.ok ? { ok: true, value: new TextDecoder().decode(answer.value) } : answer;
  }
}
