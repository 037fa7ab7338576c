// Attacks: hosts that are not on the network list.

import { type Attack, DENO, type Scene } from "./types.ts";

const network: Attack[] = ([
  [
    "a port of the machine, directly",
    ({ unlisted }) => `${DENO} talk.js 127.0.0.1 ${unlisted} 'GET / HTTP/1.0'`,
  ],
  [
    "an address that is not listed, through the proxy",
    ({ unlisted }) =>
      `${DENO} talk.js 127.0.0.1 3128 'GET http://127.0.0.1:${unlisted}/ HTTP/1.1' 'Host: 127.0.0.1'`,
  ],
  [
    "a tunnel to an address that is not listed",
    ({ unlisted }) =>
      `${DENO} talk.js 127.0.0.1 3128 'CONNECT 127.0.0.1:${unlisted} HTTP/1.1' '' 'GET / HTTP/1.0'`,
  ],
  [
    "another spelling of the address",
    ({ unlisted }) =>
      `for a in 2130706433 0x7f.1 127.1 0177.0.0.1 [::ffff:127.0.0.1] [::1] localhost 0.0.0.0; do ${DENO} talk.js 127.0.0.1 3128 "GET http://$a:${unlisted}/ HTTP/1.1"; done`,
  ],
  [
    "one request header inside another",
    ({ listed, unlisted }) =>
      `${DENO} talk.js 127.0.0.1 3128 'GET http://127.0.0.1:${listed}/ HTTP/1.1' "$(printf 'A: b\\nHost: 127.0.0.1:${unlisted}')"; ` +
      `${DENO} talk.js 127.0.0.1 3128 'GET http://127.0.0.1:${listed}@127.0.0.1:${unlisted}/ HTTP/1.1'`,
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
