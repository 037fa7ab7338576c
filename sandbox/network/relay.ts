// The relay: a small program next to a command without network that carries its connections to the proxy.

/** The port it listens on if the command has its own loopback interface, where the port is free. */
export const RELAY_PORT = 3128;

/**
 * Folder of the relay's files inside the sandbox. It is in the device folder, which every sandbox has for itself, so no
 * file of the host is hidden by it.
 */
const PLACE = "/dev/flemma";
const PROGRAM = `${PLACE}/relay.js`;
const SOCKET = `${PLACE}/proxy`;
const RUNTIME = `${PLACE}/deno`;

/** Source of the relay: it listens, writes a line when ready, then copies bytes. It does not report errors. */
const SOURCE = `
const listener = Deno.listen({ hostname: "127.0.0.1", port: Number(Deno.args[0]) });
Deno.stdout.writeSync(new TextEncoder().encode("ready\\n"));
for await (const inner of listener) {
  Deno.connect({ transport: "unix", path: "${SOCKET}" }).then((outer) => Promise.all([
    inner.readable.pipeTo(outer.writable), outer.readable.pipeTo(inner.writable),
  ])).catch(() => {}).finally(() => { try { inner.close(); } catch { /* closed */ } });
}
`;

/** The source of the program, for a file that no command can reach. */
export function relaySource(): string {
  return SOURCE.trimStart();
}

/** The variables by which programs find a proxy at this address. */
export function proxyVariables(address: string): Record<string, string> {
  const proxied = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  return {
    ...Object.fromEntries(proxied.map((name) => [name, address])),
    NO_PROXY: "127.0.0.1,localhost",
    no_proxy: "127.0.0.1,localhost",
  };
}

/** Mounts and variables, as bubblewrap options after its \`--dev\`. Paths are those of the host. */
export function relayOptions(
  paths: { runtime: string; program: string; socket: string; port: number },
): string[] {
  return [
    ...["--ro-bind", paths.runtime, RUNTIME],
    ...["--ro-bind", paths.program, PROGRAM],
    ...["--ro-bind", paths.socket, SOCKET],
    ...Object.entries(proxyVariables(`http://127.0.0.1:${paths.port}`)).flatMap((
      each,
    ) => ["--setenv", ...each]),
  ];
}

/**
 * Starts the relay, waits through a pipe until it is ready, and runs the command. The relay has the same permissions
 * as the command, because both run in one sandbox. It gets neither the command's variables nor its streams. When the
 * command has ended, the relay and everything else inside the sandbox end too.
 */
const START = `port=$1; shift; exec 3<&0
{ env -i HOME=/ DENO_DIR=${PLACE}/cache DENO_NO_UPDATE_CHECK=1 ${RUNTIME} run --quiet --no-config --no-lock --no-remote \\
  --no-npm --v8-flags=--lite-mode --allow-all ${PROGRAM} $port </dev/null 2>/dev/null 3<&- & } | {
  read -r ready
  [ "$ready" = ready ] || { echo 'flemma: the network relay could not be started' >&2; exit 125; }
  exec "$@" <&3 3<&-
}`;

export function withRelay(inner: readonly string[], port: number): string[] {
  return ["/bin/sh", "-c", START, "relay", String(port), ...inner];
}
