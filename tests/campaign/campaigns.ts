// The campaigns by name: what each does, and its full count.

import { ATTACKS } from "../sandbox/attacks/list.ts";
import { FILTER_FAULTS } from "./filter_fault_rows.ts";

/** Attacks `count` times, beginning with a seed; returns a report, rejects at the first fault. */
export type Run = (count: number, seed: number) => Promise<string>;

export interface Campaign {
  /** What it does, for the page about reliability. */
  readonly what: string;
  /** The full count of runs. */
  readonly standard: number;
  /** Runs per step; results are recorded after each step. */
  readonly step: number;
  readonly load: () => Promise<Run>;
}

export const CAMPAIGNS: Readonly<Record<string, Campaign>> = {
  saves: {
    what:
      "another writer saves, as editors do, while results of calls, jobs, helpers and hooks, `write` and `edit` are written",
    standard: 1000,
    step: 50,
    load: async () => (await import("./saves.ts")).saves,
  },
  replies: {
    what: "another writer saves, as editors do, while a reply streams into the file",
    standard: 200,
    step: 40,
    load: async () => (await import("./replies.ts")).replies,
  },
  writers: {
    what:
      "a person types above and below an arriving reply in each of six editors, in the buffer or in the file behind it",
    standard: 500,
    step: 18,
    load: async () => (await import("./writers.ts")).writers,
  },
  kills: {
    what:
      "`kill -9` at a random moment of `advance`, `watch` or `batch`, with calls, a background job, a helper and hooks, under each " +
      "sandbox; then another run",
    standard: 1000,
    step: 20,
    load: async () => (await import("./kills.ts")).kills,
  },
  commands: {
    what:
      "`kill -9` at a system call or a random moment of a command that writes files: compact, undo, fork, migrate, " +
      "import, git merges, files for editors, session settings and others",
    standard: 1000,
    step: 18,
    load: async () => (await import("./command_kills.ts")).commandKills,
  },
  machine: {
    what:
      "runs on a faulty machine: a full disk, read-only folders, wrong clocks, locks, names, links, mounts; and commands " +
      "with a state folder that is full, read-only, missing, removed meanwhile or has a damaged file",
    standard: 800,
    step: 40,
    load: async () => (await import("./machine_faults.ts")).machineFaults,
  },
  filters: {
    what: "filters that hit a fault, each kind once",
    standard: Object.keys(FILTER_FAULTS).length,
    step: Object.keys(FILTER_FAULTS).length,
    load: async () => (await import("./filter_faults.ts")).filterFaults,
  },
  forgery: {
    what:
      "replies full of text that looks like structure, in the stream of each provider, in batches, in results of helpers and " +
      "jobs, in forms of MCP servers",
    standard: 100_000,
    step: 1000,
    load: async () => (await import("./forgery.ts")).forgery,
  },
  approvals: {
    what:
      "random shell commands: those that rules approve run in a real bash, with stub programs that only record their arguments",
    standard: 100_000,
    step: 1000,
    load: async () => (await import("./approved_commands.ts")).approvedCommands,
  },
  attacks: {
    what: "attacks on the sandbox, each as root and as an ordinary user",
    standard: 2 * ATTACKS.length,
    step: 2 * ATTACKS.length,
    load: async () => (await import("./attacks.ts")).attacks,
  },
  races: {
    what: "rounds of nine file tool calls while a folder is swapped with a link",
    standard: 200,
    step: 50,
    load: async () => (await import("./file_races.ts")).fileRaces,
  },
  documents: {
    what: "random documents, read by the parser, by its grammar and line by line",
    standard: 1_000_000,
    step: 5000,
    load: async () => (await import("./parser_fuzz.ts")).documents,
  },
  edits: {
    what: "random sequences of edits, each compared with parsing the text again",
    standard: 100_000,
    step: 1000,
    load: async () => (await import("./parser_fuzz.ts")).editSequences,
  },
  readers: {
    what:
      "random input for every reader: streams, frontmatter, settings, commands, messages of editors, results and forms of " +
      "MCP servers, output of hooks, reports of launchers, requests to the proxy, batches, records in the state folder",
    standard: 100_000,
    step: 1000,
    load: async () => (await import("./reader_fuzz.ts")).readers,
  },
};
