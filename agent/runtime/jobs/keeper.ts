// Keeps the background jobs of a document between the runs of a program that outlives them: `watch`, ACP and LSP.

import type { Environment } from "../../../base/environment.ts";
import { type Outcome, type Problem, thrownText } from "../../../base/problem.ts";
import type { Emit, Journal } from "../../../cycle/types.ts";
import type { Chat } from "../../../parser/types.ts";
import type { RunSandbox } from "../../../sandbox/mod.ts";
import type { DocumentGuard } from "../../trust/guard.ts";
import type { ReportedNews } from "../notices.ts";
import type { JobsOnDemand } from "./on_demand.ts";
import type { JobOwner } from "./owner.ts";

/** The parts of a run that its jobs need, and that the next run goes on with. */
export interface SharedParts {
  /** The same for runs that can share these parts. */
  readonly key: string;
  readonly sandbox: RunSandbox;
  readonly guard: DocumentGuard;
  readonly journal: Journal;
  readonly jobs: JobsOnDemand;
  readonly reported: ReportedNews;
}

/** A document that was closed while its jobs run. */
export interface LeftDocument {
  readonly parts: SharedParts;
  readonly environment: Environment;
  /** Real path of the document. */
  readonly path: string;
  /** The text as it was when the document was closed. */
  readonly chat: Chat;
  readonly emit: Emit;
  /** Reports what the commands changed, once all have ended. */
  settle(): Promise<void>;
}

/** An open document that takes the results of jobs. */
interface JobWriter {
  deliverJobs(): Promise<Problem | null>;
  close(): Promise<void>;
}

interface Kept extends LeftDocument {
  readonly stopListening: Promise<() => Promise<void>>;
  /** Settles when the jobs have ended and nothing is kept any more. */
  readonly ended: Promise<void>;
}

/** The jobs of one document. */
export class JobKeeper {
  readonly owner: JobOwner;
  #kept: Kept | null = null;

  /** @param owner what the jobs belong to, in words */
  constructor(owner: JobOwner) {
    this.owner = owner;
  }

  /** What a run that opens the document now goes on with; null if no job runs. */
  get parts(): SharedParts | null {
    return this.#kept?.parts ?? null;
  }

  /** Takes the jobs of a document that is being closed. Other processes can stop them with `flemma cancel`. */
  keep(left: LeftDocument): void {
    const { jobs } = left.parts;
    const stopListening = import("../cancel/hear.ts").then(({ hear }) =>
      hear({
        environment: left.environment,
        path: left.path,
        tell: ({ code, message }) => left.emit({ event: "notice", code, message }),
        run: {
          chat: left.chat,
          running: [],
          requesting: false,
          get jobs() {
            return jobs.running;
          },
          cancel: () => null,
          cancelCall: () => false,
          stopJob: (id) => jobs.stop(id),
        },
      })
    );
    const ended = jobs.idle().then(async () => {
      // A run that goes on with the jobs reports what they changed.
      if (this.#kept !== kept) return;
      this.#kept = null;
      await left.settle();
      await (await stopListening)();
    }).catch((thrown: unknown) => {
      const message = `Internal error after the end of background jobs: ${thrownText(thrown)}`;
      left.emit({ event: "notice", code: "job-end-failed", message });
    });
    const kept: Kept = { ...left, stopListening, ended };
    this.#kept = kept;
  }

  /** Stops a job, or all if no id is given; false if there is none. */
  stop(id?: string): boolean {
    const jobs = this.#kept?.parts.jobs;
    const ids = id === undefined ? jobs?.running ?? [] : [id];
    return ids.map((each) => jobs?.stop(each) === true).includes(true);
  }

  /** Settles when no job is kept. */
  async ended(): Promise<void> {
    await this.#kept?.ended;
  }

  /** Hands the jobs over to the run that goes on with them. */
  async handOver(): Promise<void> {
    const kept = this.#kept;
    this.#kept = null;
    await (await kept?.stopListening)?.();
  }

  /**
   * Stops the jobs, and writes their results into the document. If that is not possible, the next run writes them.
   *
   * @param open opens the document
   */
  async end(open?: () => Promise<Outcome<JobWriter>>): Promise<void> {
    const kept = this.#kept;
    if (kept === null) return;
    await kept.parts.jobs.stopAll("host");
    await kept.ended;
    const opened = await open?.();
    if (opened?.ok !== true) return;
    await opened.value.deliverJobs();
    await opened.value.close();
  }
}
