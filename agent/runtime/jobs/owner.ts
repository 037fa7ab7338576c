// What background jobs belong to, in words.

/** Why a job was stopped. */
export type StoppedBy = "run" | "host" | "settings" | "tool" | "person";

/** What a job belongs to, in words. */
export interface JobOwner {
  /** When the job ends at the latest, such as `when this run ends`. */
  readonly ends: string;
  /** With what it is stopped then, such as `with the run`. */
  readonly stopped: string;
}

/** The owner of jobs that no program keeps. */
export const RUN: JobOwner = { ends: "when this run ends", stopped: "with the run" };
