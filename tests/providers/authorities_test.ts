// Which certificates the person's environment variables add, one row per condition.

import assert from "node:assert/strict";
import { addedAuthorities } from "../../providers/http/authorities.ts";
import { testInFolder as test } from "../folder.ts";

const certificate = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----`;

test("from a folder of certificates, only files with certificate names are read, and no folders or broken links", async (folder) => {
  await Deno.mkdir(`${folder}/certs/folder.pem`, { recursive: true });
  for (const name of ["b.pem", "a.crt", "c.cer", "1a2b3c4d.0"]) {
    await Deno.writeTextFile(`${folder}/certs/${name}`, `# of ${name}\n${certificate(name)}\n`);
  }
  for (const name of ["notes.txt", "pem", "d.pem.old"]) {
    await Deno.writeTextFile(`${folder}/certs/${name}`, certificate(name));
  }
  await Deno.writeTextFile(`${folder}/certs/empty.pem`, "");
  await Deno.symlink("nowhere", `${folder}/certs/dead.pem`);
  await Deno.writeTextFile(
    `${folder}/two.pem`,
    `${certificate("x")}\ntext between\n${certificate("b.pem")}\n`,
  );
  const added = async (variables: Record<string, string>) => {
    const found = await addedAuthorities({ cwd: folder, home: folder, variables });
    return found.ok
      ? found.value.map((each) => each.split("\n")[1])
      : `${found.problem.code}: ${found.problem.message}`;
  };
  const inFolder = ["1a2b3c4d.0", "a.crt", "b.pem", "c.cer"];
  assert.deepEqual(await added({}), []);
  assert.deepEqual(await added({ SSL_CERT_FILE: "", SSL_CERT_DIR: "" }), []);
  assert.deepEqual(await added({ SSL_CERT_DIR: "certs" }), inFolder);
  assert.deepEqual(await added({ SSL_CERT_DIR: `:${folder}/certs:` }), inFolder);
  // What two variables name is there once.
  assert.deepEqual(await added({ DENO_CERT: "two.pem", SSL_CERT_DIR: "certs" }), [
    "x",
    "b.pem",
    "1a2b3c4d.0",
    "a.crt",
    "c.cer",
  ]);
  const rows: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ SSL_CERT_FILE: "none.pem" }, /SSL_CERT_FILE names none\.pem.*it does not exist/],
    [{ DENO_CERT: "certs/empty.pem" }, /DENO_CERT names .*contains no PEM certificate/],
    [{ SSL_CERT_FILE: "certs" }, /SSL_CERT_FILE names certs, which cannot be used: Is a directory\.$/],
    [{ SSL_CERT_DIR: "certs:none" }, /SSL_CERT_DIR names none, .*it does not exist/],
  ];
  for (const [variables, says] of rows) assert.match(String(await added(variables)), says);
});
