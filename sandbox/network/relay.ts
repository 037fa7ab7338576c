// The little program that runs beside a command without network and carries its connections to the proxy (12.2).

/** The port it listens on; the command has a loopback of its own, so nothing else can hold it. */
const RELAY_PORT = 3128;

/** Where the parts lie inside the sandbox: in its private device folder, which hides nothing of the host. */
const PLACE = "/dev/flemma";
const PROGRAM = `${PLACE}/relay.js`;
const SOCKET = `${PLACE}/proxy`;
const RUNTIME = `${PLACE}/deno`;

/** Listens, says so by a word, and from then on copies bytes. It has no way to say what goes wrong, and no need. */
const SOURCE = `
const listener = Deno.listen({ hostname: "127.0.0.1", port: ${RELAY_PORT} });
Deno.stdout.writeSync(new TextEncoder().encode("ready\\n"));
for await (const inner of listener) {
  Deno.connect({ transport: "unix", path: "${SOCKET}" }).then((outer) => Promise.all([
    inner.readable.pipeTo(outer.writable), outer.readable.pipeTo(inner.writable),
  ])).catch(() => {}).finally(() => { try { inner.close(); } catch { /* closed */ } });
}
`;

/** The text of the program, for a file out of the commands' reach. */
export function relaySource(): string {
  return SOURCE.trimStart();
}

/** The mounts and variables, as options of bubblewrap that follow its \`--dev\`. Paths are the host's. */
export function relayOptions(paths: { runtime: string; program: string; socket: string }): string[] {
  const address = `http://127.0.0.1:${RELAY_PORT}`;
  const proxied = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  return [
    ...["--ro-bind", paths.runtime, RUNTIME],
    ...["--ro-bind", paths.program, PROGRAM],
    ...["--ro-bind", paths.socket, SOCKET],
    ...proxied.flatMap((name) => ["--setenv", name, address]),
    ...["NO_PROXY", "no_proxy"].flatMap((name) => ["--setenv", name, "127.0.0.1,localhost"]),
  ];
}

/**
 * Starts the relay, waits for its word through a pipe and runs the command; no time is spent in guessing. The relay may do
 * what the command may, for it runs beside it, but keeps
 * neither the command's variables nor its streams, and ends with everything else inside when the command has ended.
 */
const START = `exec 3<&0
{ env -i HOME=/ DENO_DIR=${PLACE}/cache DENO_NO_UPDATE_CHECK=1 ${RUNTIME} run --quiet --no-config --no-lock --no-remote \\
  --no-npm --v8-flags=--lite-mode --allow-all ${PROGRAM} </dev/null 2>/dev/null 3<&- & } | {
  read -r ready
  [ "$ready" = ready ] || { echo 'flemma: the way to the network could not be opened' >&2; exit 125; }
  exec "$@" <&3 3<&-
}`;

/** The command with the relay started before it. */
export function withRelay(inner: readonly string[]): string[] {
  return ["/bin/sh", "-c", START, "relay", ...inner];
}
