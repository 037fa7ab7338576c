// A certificate authority for one test and the server certificates that it signs; made by openssl.

export interface Authority {
  /** The authority's certificate, a file in PEM form. */
  readonly file: string;
  /** Certificate and key of a server for the names, in PEM form. */
  sign(names: string, days?: number): Promise<{ readonly cert: string; readonly key: string }>;
}

const CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** Makes an authority with its files in a folder. */
export async function makeAuthority(folder: string): Promise<Authority> {
  const at = (name: string) => `${folder}/${name}`;
  await openssl([
    ...["req", "-x509", ...CURVE, "-keyout", at("ca.key"), "-out", at("ca.pem"), "-days", "3650"],
    ...["-subj", "/CN=An authority for tests", "-addext", "basicConstraints=critical,CA:TRUE"],
  ]);
  let count = 0;
  return {
    file: at("ca.pem"),
    async sign(names, days = 3650) {
      const own = (suffix: string) => at(`server-${count}.${suffix}`);
      count++;
      await Deno.writeTextFile(own("ext"), `subjectAltName=${names}\n`);
      await openssl([
        ...["req", ...CURVE, "-keyout", own("key"), "-out", own("csr"), "-subj", "/CN=server"],
      ]);
      await openssl([
        ...["x509", "-req", "-in", own("csr"), "-CA", at("ca.pem"), "-CAkey", at("ca.key")],
        ...["-CAcreateserial", "-out", own("pem"), "-days", String(days), "-extfile", own("ext")],
      ]);
      return { cert: await Deno.readTextFile(own("pem")), key: await Deno.readTextFile(own("key")) };
    },
  };
}

async function openssl(args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("openssl", { args: [...args], stdout: "null" }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
