// The commands for many documents at half price.

import type { Command, Option } from "../spec.ts";
import {
  APPROVE,
  BACKEND,
  CONFIG,
  HELP,
  JOBS,
  JSON_REPORT,
  LIMITS,
  MODEL,
  NO_HOOKS,
  QUIET_RUN,
  SANDBOX,
} from "./options.ts";

const LIST: readonly Option[] = [
  { name: "from", value: "LIST", help: "Also take the documents named in the file LIST, one per line." },
  { name: "null", short: "0", help: "Names in the list end with a zero byte, as from find -print0." },
];

export const BATCH_COMMANDS: readonly Command[] = [
  {
    name: "batch send",
    usage: "[FILE…]",
    summary: "send the requests of many documents as batches, at half price",
    details:
      "Advances each document up to its next request, and sends all requests together. With -, the names come from " +
      "standard input. The provider answers within a day, mostly sooner. Until then, a placeholder below your message says " +
      "that the document is out, and flemma advance leaves it alone. At a terminal, asks before it sends. The exit code is 3 if " +
      "documents are left out because they need you, and 1 if one cannot be sent.",
    kind: "none",
    arity: [0, Infinity],
    options: [
      ...LIST,
      { name: "yes", short: "y", help: "Send without asking." },
      JOBS,
      LIMITS[0]!,
      SANDBOX,
      BACKEND,
      NO_HOOKS,
      ...MODEL,
      APPROVE,
      ...CONFIG,
      JSON_REPORT,
      QUIET_RUN,
      HELP,
    ],
    example: "flemma batch send reviews/*.chat",
  },
  {
    name: "batch status",
    usage: "",
    summary: "list the batches that are out",
    details: "The exit code is 0 if none is out, else 3.",
    kind: "none",
    arity: [0, 0],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma batch status",
  },
  {
    name: "batch fetch",
    usage: "[FILE…]",
    summary: "write the replies of batches that are there",
    details:
      "Each reply takes the place of its placeholder. Approved calls then run, and the next requests go into the next batch. " +
      "If you changed the text above a placeholder, its reply is kept for flemma recover. Named documents are found by " +
      "their placeholder, also if you moved them. The exit code is 0 if nothing is out any more and nobody is needed, else 3.",
    kind: "none",
    arity: [0, Infinity],
    options: [
      ...LIST,
      { name: "wait", help: "Wait until nothing is out any more." },
      {
        name: "rounds",
        value: "N",
        type: "count",
        default: "1",
        help: "Send up to N further batches; with 0, only write replies.",
      },
      { name: "finish-live", help: "After the last round, continue at full price." },
      JOBS,
      LIMITS[0]!,
      SANDBOX,
      BACKEND,
      NO_HOOKS,
      APPROVE,
      ...CONFIG,
      JSON_REPORT,
      QUIET_RUN,
      HELP,
    ],
    example: "flemma batch fetch --wait --rounds 5",
  },
  {
    name: "batch cancel",
    usage: "[ID|FILE…]",
    summary: "cancel batches, or all that are out",
    details:
      "Requests that the provider has finished are still paid and fetched. If a batch has ended already, its replies are " +
      "written, those of missing documents are kept for flemma recover, and nothing of it is out any more.",
    kind: "none",
    arity: [0, Infinity],
    options: [...CONFIG, QUIET_RUN, HELP],
    example: "flemma batch cancel",
  },
  {
    name: "batch adopt",
    usage: "ID NAME",
    summary: "name the provider's batch of a send whose answer was lost",
    details:
      "flemma finds such a batch itself if the provider lists it. If not, look it up in the provider's console, and name it " +
      "here: ID is the batch in flemma batch status, NAME that of the provider. To free the documents instead: flemma batch " +
      "cancel ID.",
    kind: "none",
    arity: [2, 2],
    options: [...CONFIG, QUIET_RUN, HELP],
    example: "flemma batch adopt 3f9c21ab04 batch_abc123",
  },
];
