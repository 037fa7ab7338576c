// The style sheet of a page, for light and dark mode, phones and desktops.

export const STYLE = `
:root{color-scheme:light dark;--text:#1f2328;--dim:#59636e;--page:#fff;--block:#f6f8fa;--line:#d1d9e0;--you:#1a7f37;--model:#0969da;--system:#9a6700;--call:#8250df;--bad:#cf222e;--ins:#dafbe1;--del:#ffebe9}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--dim:#9198a1;--page:#0d1117;--block:#161b22;--line:#3d444d;--you:#3fb950;--model:#58a6ff;--system:#d29922;--call:#bc8cff;--bad:#ff7b72;--ins:#12361f;--del:#47171c}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.6 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:52rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.4rem;margin:0 0 .25rem}
h3,h4,h5,h6{font-size:1.05rem;margin:1.25em 0 .5em}
h3{font-size:1.2rem}
.about{color:var(--dim);font-size:.875rem;margin:0 0 1.5rem}
article{border-top:1px solid var(--line);padding:1rem 0}
article>h2{font-size:.95rem;margin:0 0 .5rem;color:var(--system)}
article.you>h2{color:var(--you)}
article.assistant>h2{color:var(--model)}
p,ul,ol,blockquote,pre,.table{margin:.6em 0}
ul,ol{padding-left:1.5em}
li>ul,li>ol{margin:.2em 0}
blockquote{margin-left:0;padding-left:1em;border-left:3px solid var(--line);color:var(--dim)}
a{color:var(--model)}
code,pre{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{background:var(--block);border-radius:4px;padding:.1em .3em}
pre{background:var(--block);border:1px solid var(--line);border-radius:6px;padding:.6em .8em;white-space:pre-wrap;tab-size:4}
pre code{background:none;padding:0;font-size:1em}
.table{overflow-x:auto}
table{border-collapse:collapse;font-size:.95em}
th,td{border:1px solid var(--line);padding:.3em .6em;vertical-align:top;overflow-wrap:normal}
th{background:var(--block)}
.left{text-align:left}.right{text-align:right}.center{text-align:center}
hr{border:0;border-top:1px solid var(--line)}
.call{border:1px solid var(--line);border-left:3px solid var(--call);border-radius:6px;padding:.5rem .8rem;margin:.8em 0}
.call>.head{margin:0}
.tool{color:var(--call);font-weight:600}
.id,.name{color:var(--dim);font-size:.8125rem}
.label{font-style:italic}
.name code,th code,td code{font-size:1em}
.call pre{margin:.3em 0}
.name{margin:.3em 0 0}
.diff{padding-left:0;padding-right:0}
.diff span{display:block;padding:0 .8em;min-height:1.5em}
.diff ins{background:var(--ins)}
.diff del{background:var(--del)}
.diff ins,.diff del{display:block;padding:0 .8em;text-decoration:none}
details{margin:.5em 0}
summary{cursor:pointer;color:var(--dim);font-size:.875rem}
p.bad,.bad>summary{color:var(--bad)}
p.open,.open>summary{color:var(--system)}
.state{font-size:.875rem;margin:.4em 0}
.good{color:var(--dim)}
.helper{border-left:3px solid var(--line);padding-left:.8rem}
.thinking pre,.thinking p{color:var(--dim)}
.image{color:var(--dim)}
img{max-width:100%;height:auto;border:1px solid var(--line);border-radius:6px}
@media print{details>*{display:block}}
`.replaceAll("\n", "");

/** Returns the SHA-256 of the style sheet in base64, which the page's policy allows as the only style. */
export async function styleDigest(): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(STYLE)));
  return btoa(String.fromCharCode(...digest));
}
