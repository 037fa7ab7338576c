// Packs the extension for VS Code: a zip archive with a manifest, which VS Code calls VSIX.

const encoder = new TextEncoder();

/** The members of `package.json` that the manifest repeats. */
interface Package {
  readonly name: string;
  readonly publisher: string;
  readonly version: string;
  readonly displayName: string;
  readonly description: string;
  readonly engines: { readonly vscode: string };
  readonly categories: readonly string[];
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  cjs: "application/javascript",
  json: "application/json",
  vsixmanifest: "text/xml",
};

/** Returns the package of an extension; equal files make equal packages. */
export function vsixOf(files: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> {
  const about = JSON.parse(files["package.json"]!) as Package;
  const types = Object.entries(CONTENT_TYPES)
    .map(([ending, type]) => `<Default Extension=".${ending}" ContentType="${type}"/>`).join("");
  return zipOf({
    "[Content_Types].xml":
      `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${types}</Types>\n`,
    "extension.vsixmanifest": manifest(about),
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`extension/${name}`, text])),
  });
}

const XML = '<?xml version="1.0" encoding="utf-8"?>\n';

function manifest(about: Package): string {
  return `${XML}<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${escaped(about.name)}" Version="${escaped(about.version)}" Publisher="${
    escaped(about.publisher)
  }"/>
    <DisplayName>${escaped(about.displayName)}</DisplayName>
    <Description xml:space="preserve">${escaped(about.description)}</Description>
    <Categories>${escaped(about.categories.join(","))}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${escaped(about.engines.vscode)}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
  </Assets>
</PackageManifest>
`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** January 1, 1980, the earliest date that the format knows. */
const DATE = 0x21;
/** The version of the format that is needed to read the archive. */
const ZIP_VERSION = 20;
/** Flag for names in UTF-8. */
const UTF8 = 0x800;

/** Returns an archive of uncompressed files. */
function zipOf(files: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> {
  const [bodies, directory]: [Uint8Array[], Uint8Array[]] = [[], []];
  let offset = 0;
  const entries = Object.entries(files);
  for (const [name, text] of entries) {
    const [title, content] = [encoder.encode(name), encoder.encode(text)];
    const about = fields([
      [2, ZIP_VERSION],
      [2, UTF8],
      [2, 0],
      [2, 0],
      [2, DATE],
      [4, crc32(content)],
      [4, content.length],
      [4, content.length],
      [2, title.length],
      [2, 0],
    ]);
    const local = [fields([[4, 0x04034b50]]), about, title, content];
    const unused = fields([[2, 0], [2, 0], [2, 0], [4, 0]]);
    directory.push(fields([[4, 0x02014b50], [2, ZIP_VERSION]]), about, unused, fields([[4, offset]]), title);
    bodies.push(...local);
    offset += lengthOf(local);
  }
  const size = lengthOf(directory);
  const end = fields([
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, entries.length],
    [2, entries.length],
    [4, size],
    [4, offset],
    [2, 0],
  ]);
  const all = [...bodies, ...directory, end];
  const archive = new Uint8Array(lengthOf(all));
  let at = 0;
  for (const part of all) {
    archive.set(part, at);
    at += part.length;
  }
  return archive;
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** Returns numbers of two or four bytes, the lowest byte first. */
function fields(values: readonly (readonly [bytes: 2 | 4, value: number])[]): Uint8Array {
  return Uint8Array.from(
    values.flatMap(([bytes, value]) => Array.from({ length: bytes }, (_, at) => (value >>> (8 * at)) & 0xff)),
  );
}

/** Returns the checksum that the format requires. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
