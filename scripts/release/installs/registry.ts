// A package registry on loopback: serves flemma as it would be published, and forwards all other requests to the
// configured registry.
//
// This tests the real command, `npm install flemma`, before the package is published.

import { cacheFolder } from "./pinned.ts";

/** A package as it would be published. */
export interface Publication {
  readonly manifest: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };
  /** The archive that `npm pack` makes of the package. */
  readonly archive: Uint8Array<ArrayBuffer>;
}

export interface Registry extends AsyncDisposable {
  /** URL of the registry, without a final slash. */
  readonly address: string;
}

/** Time of publication, old enough for package managers that refuse new packages. */
const PUBLISHED = "2020-01-01T00:00:00.000Z";

/**
 * Starts a registry.
 * @param publications versions of one or several packages; the last one of each is `latest`
 * @param upstream the registry for all other packages, without a final slash; their archives are cached on disk
 */
export function startRegistry(publications: readonly Publication[], upstream: string): Registry {
  const documents = new Map<string, Promise<Response>>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, origin: address } = new URL(request.url);
    const path = decodeURIComponent(pathname).slice(1);
    const archive = publications.find((one) => path === archivePath(one));
    if (archive !== undefined) return new Response(archive.archive);
    if (request.method !== "GET") return new Response(null, { status: 404 });
    if (publications.some(({ manifest }) => manifest.name === path)) {
      return Response.json(
        await packument(publications.filter(({ manifest }) => manifest.name === path), address),
      );
    }
    if (path.endsWith(".tgz")) return new Response(await cachedArchive(upstream, pathname));
    const accept = request.headers.get("accept") ?? "*/*";
    const key = `${accept} ${pathname}`;
    if (!documents.has(key)) {
      documents.set(key, passedOn(`${upstream}${pathname}`, accept, upstream, address));
    }
    return (await documents.get(key)!).clone();
  });
  return { address: `http://127.0.0.1:${server.addr.port}`, [Symbol.asyncDispose]: () => server.shutdown() };
}

function archivePath({ manifest }: Publication): string {
  return `${manifest.name}/-/${manifest.name}-${manifest.version}.tgz`;
}

/** Returns the registry's metadata document of a package. */
async function packument(publications: readonly Publication[], address: string) {
  const versions = await Promise.all(publications.map(async (publication) => [
    publication.manifest.version,
    {
      ...publication.manifest,
      dist: {
        tarball: `${address}/${archivePath(publication)}`,
        integrity: `sha512-${await digest("SHA-512", publication.archive, "base64")}`,
        shasum: await digest("SHA-1", publication.archive, "hex"),
      },
    },
  ]));
  const { name, version } = publications.at(-1)!.manifest;
  const times = publications.map(({ manifest }) => [manifest.version, PUBLISHED]);
  return {
    name,
    "dist-tags": { latest: version },
    versions: Object.fromEntries(versions),
    time: { created: PUBLISHED, modified: PUBLISHED, ...Object.fromEntries(times) },
  };
}

async function digest(
  algorithm: string,
  bytes: Uint8Array<ArrayBuffer>,
  form: "hex" | "base64",
): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest(algorithm, bytes));
  return form === "hex" ? hash.toHex() : hash.toBase64();
}

/** Returns an archive of another package, cached on disk. */
async function cachedArchive(upstream: string, path: string): Promise<Uint8Array<ArrayBuffer>> {
  const folder = `${cacheFolder()}/archives`;
  const file = `${folder}/${path.slice(1).replaceAll("/", "+")}`;
  try {
    return await Deno.readFile(file);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const response = await fetch(`${upstream}${path}`);
  if (!response.ok) throw new Error(`${upstream}${path} answers ${response.status}`);
  const bytes = await response.bytes();
  await Deno.mkdir(folder, { recursive: true });
  const fresh = await Deno.makeTempFile({ dir: folder });
  await Deno.writeFile(fresh, bytes);
  await Deno.rename(fresh, file);
  return bytes;
}

/** Returns the response of another registry, with archive URLs that lead to this one. */
async function passedOn(url: string, accept: string, upstream: string, address: string): Promise<Response> {
  const response = await fetch(url, { headers: { accept } });
  const text = await response.text();
  return new Response(text.replaceAll(`${upstream}/`, `${address}/`), {
    status: response.status,
    headers: { "content-type": response.headers.get("content-type") ?? "application/json" },
  });
}
