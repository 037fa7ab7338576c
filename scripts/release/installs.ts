// Installs the npm package in every common way and reports what works: `deno task installs [--record] [WORD…]`.
//
//   installs.ts              every way
//   installs.ts WORD…        the ways whose name or tools have one of these words
//   installs.ts --record …   the same, and writes the results into the table of docs/reference/install.md

import { buildPackages } from "../build/npm.ts";
import { print } from "../gate/root.ts";
import type { Publication } from "./installs/registry.ts";
import { configuredRegistry } from "./installs/pinned.ts";
import { publicationOf } from "./installs/publish.ts";
import { record } from "./installs/report.ts";
import { programsOf } from "./installs/tools.ts";
import { type Findings, tryWay } from "./installs/try.ts";
import { WAYS } from "./installs/ways.ts";

const isRecorded = Deno.args.includes("--record");
const words = Deno.args.filter((word) => word !== "--record");
const ways = WAYS.filter(({ name, tools }) =>
  words.length === 0 || words.some((word) => `${name} ${tools.join(" ")}`.includes(word))
);
if (ways.length === 0 || words.some((word) => word.startsWith("-"))) {
  print("deno task installs [--record] [WORD…], where a way has one of the words:");
  for (const { name, tools } of WAYS) print(`  ${name} (${tools.join(", ")})`);
  Deno.exit(2);
}
if (Deno.build.target !== "x86_64-unknown-linux-gnu") {
  print("The pinned Nodes and package managers run only on Linux with glibc on x86_64.");
  Deno.exit(1);
}

const publications = await built();
const upstream = await configuredRegistry();
const found = new Map<typeof WAYS[number], Findings>();
for (const way of ways) {
  const begun = performance.now();
  const findings = await tryWay(way, { publications, programs: await programsOf(way.tools), upstream });
  found.set(way, findings);
  const faults = [...findings].filter(([, fault]) => fault !== null);
  print(
    `${faults.length === 0 ? "ok    " : "FAILED"} ${way.name} (${way.tools.join(", ")}): ${
      [...findings.keys()].join(", ")
    }, ${Math.round((performance.now() - begun) / 1000)} s`,
  );
  for (const [part, fault] of faults) print(`  ${part}: ${fault}`);
}
if (isRecorded) await record(found);
Deno.exit(
  [...found.values()].every((findings) => [...findings.values()].every((fault) => fault === null)) ? 0 : 1,
);

/** Returns the current package, and a next version of it. */
async function built(): Promise<[Publication, Publication]> {
  const place = await Deno.makeTempDir({ prefix: "flemma-installs-" });
  try {
    const [folder] = await buildPackages(place);
    return [await publicationOf(folder!), await publicationOf(folder!, "9.9.9")];
  } finally {
    await Deno.remove(place, { recursive: true });
  }
}
