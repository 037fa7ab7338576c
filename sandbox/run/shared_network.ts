// A network namespace that the commands of a run share while a background command lives, so that they reach its ports.
// It has only a loopback interface.

import type { Environment } from "../../base/environment.ts";
import { type Running, spawn } from "../process/spawn.ts";
import type { Host, SharedNetwork } from "../types.ts";

/** First port of the relays; port 3128 is that of a command with its own namespace. */
const FIRST_PORT = 3129;

export class SharedNetworkKeeper {
  /** The namespace; null if there is none. */
  current: SharedNetwork | null = null;
  #opening: Promise<boolean> | null = null;
  #holder: Running | null = null;

  /**
   * Creates the namespace, if there is none. Returns false if this machine cannot do that, or commands cannot enter it.
   *
   * @param bwrap path of bubblewrap
   */
  open(bwrap: string, host: Host): Promise<boolean> {
    return this.#opening ??= this.#open(bwrap, host);
  }

  async #open(bwrap: string, host: Host): Promise<boolean> {
    const nsenter = host.program("nsenter");
    if (!nsenter.ok) return false;
    const user = host.root ? [] : ["--unshare-user"];
    // The holder ends when its input ends, so also when this program is killed.
    const script = "echo $$; exec cat";
    const around = [
      "--ro-bind",
      "/",
      "/",
      ...user,
      "--unshare-net",
      "--die-with-parent",
      "/bin/sh",
      "-c",
      script,
    ];
    const holder = spawn([bwrap, ...around], {
      cwd: "/",
      env: environmentOf(host.environment),
      keepInput: true,
    });
    if (!holder.ok) return false;
    this.#holder = holder.value;
    const pid = await firstLine(holder.value.stdout);
    const enter = [
      nsenter.value,
      ...(host.root ? [] : ["--user", "--preserve-credentials"]),
      ...["--net", "--target", pid, "--"],
    ];
    if (
      /^\d+$/.test(pid) &&
      await works([...enter, bwrap, "--ro-bind", "/", "/", "--unshare-user", "true"], host)
    ) {
      let port = FIRST_PORT;
      this.current = { enter, takePort: () => port++ };
      return true;
    }
    await this.close();
    // The next background command would fail in the same way.
    this.#opening = Promise.resolve(false);
    return false;
  }

  /** Ends the namespace for commands that start later. */
  async close(): Promise<void> {
    const holder = this.#holder;
    this.current = null;
    this.#holder = null;
    this.#opening = null;
    await holder?.kill();
  }
}

/** True if a command succeeds. */
async function works(argv: readonly string[], host: Host): Promise<boolean> {
  const tried = spawn(argv, { cwd: "/", env: environmentOf(host.environment) });
  if (!tried.ok) return false;
  await Promise.all([tried.value.stdout.cancel(), tried.value.stderr.cancel()]);
  return (await tried.value.status).code === 0;
}

function environmentOf({ variables }: Environment): Record<string, string> {
  return { PATH: variables.PATH ?? "/usr/bin:/bin" };
}

/** Reads the first line of a stream, and stops reading. */
async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("\n")) break;
  }
  return text.split("\n", 1)[0] ?? "";
}
