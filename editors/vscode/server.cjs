// The connection to the process of `flemma lsp`.
// @ts-check
"use strict";

const { spawn } = require("node:child_process");

/** @typedef {{ id?: number, method?: string, params?: any, result?: any, error?: { code: number, message: string } }} Message */

/** @param {string} program @param {Error & { code?: string }} error */
function startFault(program, error) {
  const then = "then Developer: Reload Window";
  return error.code === "ENOENT"
    ? `The program ${program} was not found. Install flemma, or set flemma.program to its path, ${then}`
    : `${program} cannot be started: ${error.message}. Check flemma.program in the settings, ${then}`;
}

/** The server process; `receive` handles its requests and notifications, and returns responses. */
class Server {
  /**
   * @param {string} program
   * @param {(method: string, params: any) => unknown} receive
   * @param {(fault: string) => void} ended
   */
  constructor(program, receive, ended) {
    this.receive = receive;
    this.last = 0;
    this.rest = Buffer.alloc(0);
    /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
    this.open = new Map();
    this.child = spawn(program, ["lsp"], { stdio: ["pipe", "pipe", "ignore"] });
    /** Why the process ended. @type {string | undefined} */
    this.fault = undefined;
    const again = "To start it again: Developer: Reload Window";
    this.child.on("error", (error) => this.end(startFault(program, error), ended));
    this.child.on("exit", (code) => this.end(`${program} lsp exited with code ${code}. ${again}`, ended));
    this.child.stdin.on("error", () => {}); // The process reports its end.
    this.child.stdout.on("data", (/** @type {Buffer} */ bytes) => this.take(bytes));
  }

  /** @param {string} fault @param {(fault: string) => void} ended */
  end(fault, ended) {
    this.fault = fault;
    for (const { reject } of this.open.values()) reject(new Error(fault));
    this.open.clear();
    ended(fault);
  }

  /** @param {Buffer} bytes */
  take(bytes) {
    this.rest = Buffer.concat([this.rest, bytes]);
    for (;;) {
      const head = this.rest.indexOf("\r\n\r\n");
      const length = Number(
        /Content-Length: *(\d+)/i.exec(this.rest.toString("latin1", 0, Math.max(head, 0)))?.[1],
      );
      if (head < 0 || Number.isNaN(length) || this.rest.length < head + 4 + length) return;
      const text = this.rest.toString("utf8", head + 4, head + 4 + length);
      this.rest = this.rest.subarray(head + 4 + length);
      void this.handle(JSON.parse(text));
    }
  }

  /** @param {Message} message */
  async handle({ id, method, params, result, error }) {
    if (method !== undefined) {
      const answer = await this.receive(method, params);
      if (id !== undefined) this.write({ id, result: answer ?? null });
      return;
    }
    const asked = this.open.get(id ?? -1);
    this.open.delete(id ?? -1);
    if (error !== undefined) asked?.reject(new Error(error.message));
    else asked?.resolve(result);
  }

  /** @param {object} message */
  write(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.child.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
  }

  /** @param {string} method @param {unknown} [params] @returns {Promise<any>} */
  request(method, params) {
    // Nobody would answer.
    if (this.fault !== undefined) return Promise.reject(new Error(this.fault));
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.open.set(id, { resolve, reject });
      this.write({ id, method, params });
    });
  }
}

module.exports = { Server };
