// Attacks: exhausting the machine, and outliving the command.

import { type Attack, inGroup, lives, saysPwned } from "./types.ts";

const BOMB = `599.${Deno.pid}`;

const resources = inGroup("resources", [
  {
    name: "a flood of processes",
    shell: () => "i=0; while [ $i -lt 200 ]; do sleep 600 & i=$((i+1)); done; echo PWNED",
    won: saysPwned,
    policy: () => ({ limits: { processes: 30 } }),
  },
  {
    name: "a fork bomb whose shell ends first",
    shell: () => `f() { sleep ${BOMB} & f | f & }; exec 2>/dev/null; f`,
    won: () => lives(BOMB),
    policy: () => ({ limits: { processes: 30 } }),
  },
  {
    name: "an endless file",
    shell: () => "head -c 50000000 /dev/zero > big",
    won: ({ project }) => (Deno.statSync(`${project}/big`).size) > 1_000_000,
    policy: () => ({ limits: { file_size: 1_000_000 } }),
  },
  {
    name: "unlimited memory",
    shell: () => "dd if=/dev/zero of=/dev/null bs=600M count=1 2>/dev/null && echo PWNED",
    won: saysPwned,
    policy: () => ({ limits: { memory: 300_000_000 } }),
  },
  {
    name: "raising its own limits",
    shell: () =>
      "ulimit -f unlimited && echo PWNED; prlimit --fsize=unlimited: --pid $$ && echo PWNED; ulimit -c unlimited && echo PWNED",
    won: saysPwned,
    policy: () => ({ limits: { file_size: 1_000_000 } }),
  },
]);

const survival: Attack[] = ([
  ["a child in the background", "sleep MARK &"],
  ["a separate process session", "setsid sleep MARK >/dev/null 2>&1 &"],
  [
    "an orphaned grandchild",
    "(setsid sh -c 'sleep MARK & exec sleep MARK' >/dev/null 2>&1 </dev/null &)",
  ],
  [
    "ignoring every signal that can be ignored",
    "trap '' HUP INT TERM; nohup sh -c \"trap '' HUP INT TERM; exec sleep MARK\" >/dev/null 2>&1 &",
  ],
  ["a namespace inside", "unshare -Ur --fork --pid sleep MARK >/dev/null 2>&1 &"],
] as [string, string][]).map(([name, shell], index) => {
  const mark = `${600 + index}.${Deno.pid}`;
  return {
    group: "surviving the end",
    name,
    shell: () => shell.replaceAll("MARK", mark),
    won: () => lives(mark),
  };
});

export const RESOURCES: readonly Attack[] = [...resources, ...survival];
