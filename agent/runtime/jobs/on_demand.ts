// Background jobs of a session. Their code is loaded when a call or the document first needs it.

import type { Problem } from "../../../base/problem.ts";
import type { CycleParts } from "../../../cycle/mod.ts";
import { createStopBy } from "../../../cycle/run/stop.ts";
import type { DocumentStore, Send, Stop } from "../../../cycle/types.ts";
import type { Call } from "../../../parser/types.ts";
import { jobOf } from "../../../parser/view/jobs.ts";
import { BACKGROUND, JOB_STATUS, JOB_STOP } from "../../../tools/definition.ts";
import type { Jobs, JobsParts } from "./jobs.ts";
import type { StoppedBy } from "./owner.ts";

/** The jobs of an open document, in the places where a run calls them. */
export class JobsOnDemand {
  #parts: Omit<JobsParts, "run">;
  #run: CycleParts["run"] | null = null;
  #jobs: Promise<Jobs> | null = null;
  #made: Jobs | null = null;

  constructor(parts: Omit<JobsParts, "run">) {
    this.#parts = parts;
  }

  /** Lets another run of the same document go on with the jobs. */
  goOnWith(parts: Omit<JobsParts, "run">): this {
    this.#parts = parts;
    return this;
  }

  /** True if the document named jobs, or a call did. */
  get isUsed(): boolean {
    return this.#made !== null;
  }

  /** True if a job runs. */
  get isAlive(): boolean {
    return this.#made !== null && this.#made.running.length > 0;
  }

  /** Settles when no job runs and the ends of all are recorded. */
  async idle(): Promise<void> {
    await this.#made?.idle();
  }

  /** Stops every job. Their results are recorded. */
  async stopAll(by: StoppedBy): Promise<void> {
    await this.#made?.stopAll(by);
  }

  /** Returns a function that runs a call, or makes it a job. */
  run(run: CycleParts["run"]): CycleParts["run"] {
    this.#run = run;
    return async (call, signal, onOutput) =>
      concernsJobs(call)
        ? await (await this.#loaded()).call(call, signal)
        : await run(call, signal, onOutput);
  }

  /** Returns a function that writes the results of jobs that have ended, and sends the request. */
  send(send: Send): Send {
    return async (signal, how) => {
      const problem = await (await this.#jobs)?.deliver({ asks: true }) ?? null;
      return problem === null ? await send(signal, how) : { kind: "failed", problem };
    };
  }

  /** Ids of the running jobs that nobody has stopped. */
  get running(): readonly string[] {
    return this.#made?.running.filter(({ signal }) => !signal.aborted).map(({ id }) => id) ?? [];
  }

  /** Stops a running job; false if there is none with this id. */
  stop(id: string): boolean {
    return this.#made?.stopByPerson(id) ?? false;
  }

  /** Ends the wait for jobs after a complete reply; false if the run does not wait for any. */
  endWait(): boolean {
    return this.#made?.endWait() ?? false;
  }

  /** Writes the results that earlier runs left. Returns why that is not possible; null if it was done. */
  async deliverLeft(): Promise<Problem | null> {
    if (!mayHaveOpenJobs(this.#parts.store)) return null;
    const jobs = await this.#loaded();
    jobs.collect();
    return await jobs.deliver({ asks: false });
  }

  /**
   * Does the work of a run. Before it, writes the results that earlier runs left; after it, however it ended, stops the
   * jobs, unless their owner keeps them.
   *
   * @param goOn continues the run
   */
  async around(work: () => Promise<Stop>, goOn: () => Promise<Stop>, signal: AbortSignal): Promise<Stop> {
    const problem = await this.deliverLeft();
    if (problem !== null) return createStopBy(problem);
    try {
      const stop = await work();
      return await (await this.#jobs)?.finish(stop, goOn, signal) ?? stop;
    } catch (thrown) {
      await (await this.#jobs)?.end();
      throw thrown;
    }
  }

  #loaded(): Promise<Jobs> {
    return this.#jobs ??= import("./jobs.ts").then(({ Jobs }) => {
      return this.#made = new Jobs(() => {
        if (this.#run === null) throw new Error("jobs are used before the runner of calls is known");
        return { ...this.#parts, run: this.#run };
      });
    });
  }
}

function concernsJobs({ name, input }: Call): boolean {
  return input[BACKGROUND] === true || name === JOB_STATUS || name === JOB_STOP;
}

/** True if the result of a call names a job. */
function mayHaveOpenJobs({ chat }: DocumentStore): boolean {
  return chat.results.some((result) => jobOf(result) !== null);
}
