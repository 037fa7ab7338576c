// Pure functions that decide which hosts a network list allows.

import { failure, type Outcome, success } from "../../base/problem.ts";
import { isInRange, isInward, parseAddress } from "./address.ts";

/** Ports of a rule that names no port. */
const USUAL_PORTS: readonly number[] = [80, 443];

export interface HostRule {
  /** Host name in lower case, without a final dot; empty for an address or a range. */
  readonly name: string;
  /** True if the rule matches every name below `name`, but not `name` itself. */
  readonly below: boolean;
  readonly range: { readonly network: Uint8Array; readonly bits: number } | null;
  /** Ports of the rule; null means every port. */
  readonly ports: readonly number[] | null;
}

/**
 * Parses entries of the forms `name`, `*.name`, `address` and `address/bits`. Each may end in `:port` or `:*`. Without
 * a port, an entry means ports 80 and 443. IPv6 addresses are in brackets. Fails with `bad-host-rule`.
 */
export function parseHostRules(entries: readonly string[]): Outcome<readonly HostRule[]> {
  const rules: HostRule[] = [];
  for (const entry of entries) {
    const rule = parseHostRule(entry);
    if (rule === null) {
      return failure(
        "bad-host-rule",
        `sandbox.policy.network.allow contains "${entry}", which is not a host, an address or an address range.`,
        "Write example.org, example.org:8080, *.example.org, 192.0.2.7, [2001:db8::1]:443 or 10.0.0.0/8:*.",
      );
    }
    rules.push(rule);
  }
  return success(rules);
}

function parseHostRule(entry: string): HostRule | null {
  const match = /^(?:\[([^\]\s]+)\]|([^:[\]\s]+))(?::(\d{1,5}|\*))?$/.exec(entry);
  if (match === null) return null;
  const [, bracketed, plain = "", port] = match;
  const ports = port === undefined ? USUAL_PORTS : port === "*" ? null : [Number(port)];
  if (ports?.some((number) => number < 1 || number > 65535)) return null;
  const [host = "", width, ...more] = (bracketed ?? plain).split("/");
  const address = parseAddress(host);
  if (address !== null && more.length === 0) {
    const most = address.length * 8;
    const bits = width === undefined ? most : /^\d{1,3}$/.test(width) ? Number(width) : Infinity;
    return bits <= most ? { name: "", below: false, range: { network: address, bits }, ports } : null;
  }
  if (width !== undefined || bracketed !== undefined) return null;
  const below = host.startsWith("*.");
  const name = normalName(below ? host.slice(2) : host);
  return name === null ? null : { name, below, range: null, ports };
}

/**
 * Returns a host name in lower case without a final dot; null if the text is not a name. Digits and dots alone are not
 * a name.
 */
function normalName(host: string): string | null {
  const name = host.toLowerCase().replace(/\.$/, "");
  const labels = name.split(".");
  const fits = name.length <= 253 &&
    labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
  // The last label of a name is never a number. A text such as `0x7f.1` is an address in disguise.
  return fits && !/^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "") ? name : null;
}

/**
 * True if the list allows requests to a host, before its address is known. `host` is a name, or an address without
 * brackets.
 */
export function mayAskFor(rules: readonly HostRule[], host: string, port: number): boolean {
  const address = parseAddress(host);
  if (address !== null) return isListed(rules, address, port);
  const name = normalName(host);
  return name !== null && rules.some((rule) =>
    rule.range === null && fitsPort(rule, port) &&
    (rule.below ? name.endsWith(`.${rule.name}`) : name === rule.name)
  );
}

/**
 * True if a connection to the address of an allowed name is permitted. Private addresses must be listed themselves,
 * because others control what a name resolves to. The exception is `localhost`, which is always this machine.
 */
export function mayConnect(
  rules: readonly HostRule[],
  { host, port, address }: { host: string; port: number; address: string },
): boolean {
  const bytes = parseAddress(address);
  if (bytes === null) return false;
  if (!isInward(bytes) || isListed(rules, bytes, port)) return true;
  const loopback = bytes.length === 4 ? bytes[0] === 127 : bytes.subarray(0, 15).every((byte) => byte === 0);
  return normalName(host) === "localhost" && loopback;
}

function isListed(rules: readonly HostRule[], address: Uint8Array, port: number): boolean {
  return rules.some((rule) =>
    rule.range !== null && fitsPort(rule, port) && isInRange(address, rule.range.network, rule.range.bits)
  );
}

function fitsPort({ ports }: HostRule, port: number): boolean {
  return ports === null || ports.includes(port);
}
