// Reading a file that was judged first: what is opened must be what was judged, whatever took its place meanwhile.

/** Why a file is not read; null lets it be read. `real` is its real path. */
export type JudgeFile = (real: string, info: Deno.FileInfo) => string | null;

const EXCHANGED = "it was exchanged for something else while it was opened";

/** The bytes of a file that `judge` allows, or why it is not read. Rejects as the system does. */
export async function readJudged(path: string, judge: JudgeFile): Promise<Uint8Array<ArrayBuffer> | string> {
  const real = await Deno.realPath(path);
  const info = await Deno.stat(real);
  const obstacle = judge(real, info);
  if (obstacle !== null) return obstacle;
  using file = await Deno.open(real);
  if (!isSame(await file.stat(), info) || await Deno.realPath(path) !== real) return EXCHANGED;
  return new Uint8Array(await new Response(file.readable).arrayBuffer());
}

/** The same at once, for where nothing can wait. */
export function readJudgedSync(path: string, judge: JudgeFile): Uint8Array<ArrayBuffer> | string {
  const real = Deno.realPathSync(path);
  const info = Deno.statSync(real);
  const obstacle = judge(real, info);
  if (obstacle !== null) return obstacle;
  using file = Deno.openSync(real);
  if (!isSame(file.statSync(), info) || Deno.realPathSync(path) !== real) return EXCHANGED;
  const bytes = new Uint8Array(info.size);
  let filled = 0;
  for (let count = 1; filled < bytes.length && count > 0; filled += count) {
    count = file.readSync(bytes.subarray(filled)) ?? 0;
  }
  return bytes.subarray(0, filled);
}

function isSame(opened: Deno.FileInfo, judged: Deno.FileInfo): boolean {
  return opened.dev === judged.dev && opened.ino === judged.ino;
}
