// Attacks: hosts that are not on the network list.

import { type Attack, DENO, type Scene } from "./types.ts";

/** Asks the port with each kind of socket. */
const KINDS = `
import socket, sys
at = ("127.0.0.1", int(sys.argv[1]))
text = b"GET / HTTP/1.0\\r\\n\\r\\n"
def ask(family, protocol, to, flags):
    try:
        s = socket.socket(family, socket.SOCK_STREAM, protocol)
        if flags == 0: s.connect(to)
        s.sendto(text, flags, to) if flags else s.sendall(text)
        print(s.recv(100))
    except OSError as e: print(e)
ask(socket.AF_INET6, 0, ("::ffff:127.0.0.1", at[1]), 0)
ask(socket.AF_INET, 262, at, 0)
ask(socket.AF_INET, 0, at, 0x20000000)
`;

const network: Attack[] = ([
  [
    "a port of the machine, directly",
    ({ unlisted }) => `${DENO} talk.js 127.0.0.1 ${unlisted} 'GET / HTTP/1.0'`,
  ],
  [
    "an address that is not listed, through the proxy",
    ({ unlisted }) =>
      `${DENO} talk.js proxy 0 'GET http://127.0.0.1:${unlisted}/ HTTP/1.1' 'Host: 127.0.0.1'`,
  ],
  [
    "a tunnel to an address that is not listed",
    ({ unlisted }) => `${DENO} talk.js proxy 0 'CONNECT 127.0.0.1:${unlisted} HTTP/1.1' '' 'GET / HTTP/1.0'`,
  ],
  [
    "another spelling of the address",
    ({ unlisted }) =>
      `for a in 2130706433 0x7f.1 127.1 0177.0.0.1 [::ffff:127.0.0.1] [::1] localhost 0.0.0.0; do ${DENO} talk.js proxy 0 "GET http://$a:${unlisted}/ HTTP/1.1"; done`,
  ],
  [
    "one request header inside another",
    ({ listed, unlisted }) =>
      `${DENO} talk.js proxy 0 'GET http://127.0.0.1:${listed}/ HTTP/1.1' "$(printf 'A: b\\nHost: 127.0.0.1:${unlisted}')"; ` +
      `${DENO} talk.js proxy 0 'GET http://127.0.0.1:${listed}@127.0.0.1:${unlisted}/ HTTP/1.1'`,
  ],
  [
    "another kind of socket: IPv6, multipath TCP, and a connection by a flag of sending",
    ({ unlisted }) => `python3 -c '${KINDS}' ${unlisted}`,
  ],
  [
    "the command's own network, and the interfaces of the machine",
    ({ unlisted }) =>
      `ip link add type veth; ip addr; unshare -Urn ${DENO} talk.js 127.0.0.1 ${unlisted} 'GET / HTTP/1.0'; nsenter -t 1 -n true`,
  ],
] as [string, Attack["shell"]][]).map(([name, shell]) => ({
  group: "network list",
  name,
  shell,
  won: ({ reached, unlisted }: Scene) => reached.some((url) => url.includes(`:${unlisted}/`)),
  policy: ({ listed }: Scene) => ({ network: { allow: [`127.0.0.1:${listed}`] } }),
}));

export const NETWORK: readonly Attack[] = network;
