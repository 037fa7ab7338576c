#!/usr/bin/env node
// Starts flemma with the Deno that npm installed next to it, where bin/flemma.bin cannot: on Windows, and if packages are in
// archives, which only Node can read.
"use strict";

const { spawn } = require("node:child_process");
const path = require("node:path");

/** The Deno for this system; null when there is none. */
function findDeno() {
  const system = { linux: `linux-${process.arch}-glibc` }[process.platform] ??
    `${process.platform}-${process.arch}`;
  try {
    const folder = path.dirname(require.resolve(`@deno/${system}/package.json`));
    return path.join(folder, process.platform === "win32" ? "deno.exe" : "deno");
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    return null;
  }
}

const deno = findDeno();
if (deno === null) {
  process.stderr.write(
    "flemma: The package for this system was not found, so there is no Deno.\n" +
      "  Install flemma again without --omit=optional or --no-optional.\n",
  );
  process.exit(1);
}
const program = path.join(__dirname, "..", "lib", "flemma.js");
const flags = ["run", "--no-config", "--no-lock", "--cached-only", "--quiet", "-A"];
const child = spawn(deno, [...flags, program, ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...process.env, DENO_NO_UPDATE_CHECK: "1" },
});
// A Ctrl-C reaches the whole group, another signal only this process; either way the program decides how it ends.
const passed = process.platform === "win32" ? [] : ["SIGTERM", "SIGHUP"];
for (const signal of passed) process.on(signal, () => child.kill(signal));
process.on("SIGINT", () => {});
child.on("error", (error) => {
  process.stderr.write(`flemma: ${deno} cannot be started: ${error.message}\n`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
