// Parses IP addresses into bytes, and decides which addresses are not on the public Internet.

/**
 * The 4 or 16 bytes of an address; an IPv4-mapped IPv6 address gives the IPv4 address. Null if the text is not an
 * address.
 */
export function parseAddress(text: string): Uint8Array | null {
  const four = parseFour(text);
  if (four !== null) return four;
  const six = parseSix(text);
  if (six === null) return null;
  const mapped = six.subarray(0, 10).every((byte) => byte === 0) && six[10] === 0xff && six[11] === 0xff;
  return mapped ? six.slice(12) : six;
}

/** True if `address` begins with the first `bits` bits of `network`. False for different address families. */
export function isInRange(address: Uint8Array, network: Uint8Array, bits: number): boolean {
  if (address.length !== network.length) return false;
  for (let bit = 0; bit < bits; bit += 8) {
    const mask = 0xff << Math.max(0, 8 - (bits - bit)) & 0xff;
    if (((address[bit >> 3] ?? 0) ^ (network[bit >> 3] ?? 0)) & mask) return false;
  }
  return true;
}

/** Ranges outside the public Internet: local machine, private networks, unspecified, multicast. */
const INWARD: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["::", 96],
  // Addresses that embed an IPv4 address, which may be a private one.
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2001::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
];

/** The ranges of `INWARD` as bytes. Built on first use, because most runs do not need them. */
let inward: readonly { readonly network: Uint8Array; readonly bits: number }[] | undefined;

/** True if an address is loopback, link-local, private, multicast, or otherwise not on the public Internet. */
export function isInward(address: Uint8Array): boolean {
  inward ??= INWARD.map(([text, bits]) => ({ network: parseAddress(text)!, bits }));
  return inward.some(({ network, bits }) => isInRange(address, network, bits));
}

/**
 * Parses an IPv4 address in dotted decimal. Other forms, such as `0x7f.1` or `017700000001`, count as names, and a
 * list cannot contain such names.
 */
function parseFour(text: string): Uint8Array | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return null;
  const parts = match.slice(1);
  if (parts.some((part) => Number(part) > 255 || (part.length > 1 && part.startsWith("0")))) return null;
  return Uint8Array.from(parts, Number);
}

function parseSix(text: string): Uint8Array | null {
  const [head = "", tail, ...more] = text.split("::");
  if (more.length > 0 || !text.includes(":")) return null;
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  if (before === null || after === null) return null;
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return null;
  const groups = [...before, ...new Array<number>(missing).fill(0), ...after];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function groupsOf(text: string): number[] | null {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    const four = index === parts.length - 1 ? parseFour(part) : null;
    if (four !== null) groups.push((four[0]! << 8) | four[1]!, (four[2]! << 8) | four[3]!);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(parseInt(part, 16));
    else return null;
  }
  return groups;
}
