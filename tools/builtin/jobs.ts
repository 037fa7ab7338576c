// The tools that read and stop background jobs. The run that owns the jobs answers their calls.

import { textOrEmpty } from "../../base/is_object.ts";
import { type BuiltinTool, CODING_ASSISTANT, JOB_STATUS, JOB_STOP } from "../definition.ts";
import { inputValidator } from "../validate.ts";
import { labelComment, strictSchema } from "./schema.ts";
import { validators } from "./validators.generated.ts";

/** Longest time in seconds that a call of `flemma.jobs.status` waits. */
export const LONGEST_JOB_WAIT = 300;

/** Error of a call where no run can own a job. */
export const NO_JOBS =
  "Background jobs are not available here. Call the tool again without flemma.background.";

const JOB_PARTS = (snippet: string) => ({ [CODING_ASSISTANT]: { snippet } });

const JOB_ID = { type: "string", description: "Id of the job, such as job_k7x2m." } as const;

/** Creates the tools of background jobs. */
export function jobTools(): BuiltinTool[] {
  return [
    {
      ...SHARED,
      name: JOB_STATUS,
      description: "Returns the state of a background job, and its output since the last call of this tool.",
      input_schema: strictSchema({
        job_id: JOB_ID,
        wait_seconds: {
          type: ["number", "null"],
          description:
            `Seconds to wait for the end of the job, at most ${LONGEST_JOB_WAIT} (null: do not wait).`,
        },
      }),
      personalities: JOB_PARTS("shows state and new output of a background job"),
      validate: inputValidator(validators.flemma_jobs_status),
      format_preview: (input) => `${textOrEmpty(input.job_id)}${labelComment(input)}`,
    },
    {
      ...SHARED,
      name: JOB_STOP,
      description: "Stops a background job: SIGTERM, then SIGKILL after 3 seconds.",
      input_schema: strictSchema({ job_id: JOB_ID }),
      personalities: JOB_PARTS("stops a background job"),
      validate: inputValidator(validators.flemma_jobs_stop),
      format_preview: (input) => `${textOrEmpty(input.job_id)}${labelComment(input)}`,
    },
  ];
}

const SHARED = {
  strict: true,
  async: true,
  effects: "none",
  runs: "here",
  execute: () => ({ success: false, error: NO_JOBS }),
} as const;
