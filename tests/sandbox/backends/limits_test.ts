// Limits on the resources of one command.

import assert from "node:assert/strict";
import { plant, projectSandbox, runInside } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

test("each limit is in effect inside the sandbox, and a crashed program never writes a core dump", async (root) => {
  plant(root, "project/");
  const limits = { cpu_seconds: 7, memory: 4 * 2 ** 30, file_size: 1 << 20, processes: 50, open_files: 40 };
  const shell = "ulimit -t; ulimit -v; ulimit -f; ulimit -u; ulimit -n; ulimit -c";
  const { out } = await runInside(projectSandbox(root, { policy: { limits } }), `bash -c '${shell}'`);
  assert.equal(out, "7\n4194304\n1024\n50\n40\n0\n");
  assert.equal((await runInside(projectSandbox(root), "ulimit -c")).out, "0\n");
});

test("a file cannot grow beyond the limit, and a command cannot open more files than allowed", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root, { policy: { limits: { file_size: 100_000, open_files: 20 } } });
  await runInside(sandbox, "head -c 200000 /dev/zero > big; true");
  assert.equal(Deno.statSync(`${root}/project/big`).size, 100_000);
  // Descriptor 20 would be the 21st.
  const open = "bash -c 'exec 19</dev/null && echo 19; exec 20</dev/null && echo 20' 2>/dev/null";
  assert.equal((await runInside(sandbox, open)).out, "19\n");
});

Deno.test("a private /tmp has the size limit, and a project inside /tmp remains visible", async () => {
  const root = Deno.makeTempDirSync({ dir: "/tmp", prefix: "flemma-test-" });
  const big = `/tmp/${crypto.randomUUID()}`;
  try {
    plant(root, "project/file", "other");
    const sandbox = projectSandbox(root, {
      policy: { rw_paths: ["urn:flemma:cwd", "/tmp"], limits: { tmp_size: 1 << 20 } },
    });
    const { out } = await runInside(
      sandbox,
      `head -c 3000000 /dev/zero > ${big} 2>/dev/null || echo full; [ -e ${root}/other ] || echo gone; ` +
        "cat file; echo kept > made",
    );
    assert.equal(out, "full\ngone\ntext of project/file\n");
    assert.equal(Deno.readTextFileSync(`${root}/project/made`), "kept\n");
    assert.throws(() => Deno.lstatSync(big));
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

test("a command cannot start more processes than allowed", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root, { policy: { limits: { processes: 20 } } });
  const forks = "i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); echo $i; done";
  const ran = await runInside(sandbox, forks);
  const started = ran.out.trim().split("\n").length;
  const unlimited = sandbox.notices().some(({ code }) => code === "processes-not-limited");
  assert.ok(unlimited ? started === 60 : started > 5 && started < 25, `${started} were started`);
});

test("a limit is refused if it is misspelled or not a number", async (root) => {
  plant(root, "project/");
  const odd: Record<string, number>[] = [{ cpu: 3 }, { processes: 0 }, { memory: 1.5 }, { file_size: NaN }];
  for (const limits of odd) {
    const prepared = await projectSandbox(root, { policy: { limits } }).prepare(["true"]);
    assert.equal(prepared.ok ? "prepared" : prepared.problem.code, "bad-limit", JSON.stringify(limits));
  }
});
