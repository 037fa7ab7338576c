// What each setting of git does: runs a program, leads git elsewhere, or neither. Source: git-config(1), git-lfs-config(5).

/** What a setting does. */
export type SettingEffect =
  /** It names a program, a file or folder that git runs programs from, or further settings. */
  | "runs"
  /** It changes where git reads from or sends to, or whom it trusts. */
  | "leads"
  | "plain";

/** Settings whose value is the path of something that git runs files from. */
export const RUN_FROM = /^(?:core\.hookspath|init\.templatedir|instaweb\.modulepath)$/;

/** Settings whose value is the path of further settings. */
export const READ_FROM = /^include(?:if\..*)?\.path$/s;

/** Settings whose value is a switch or the name of a program. */
const SWITCHES = /^(?:core\.fsmonitor|pager\..*|submodule\..*\.update)$/s;
const SWITCH_VALUES = /^(?:true|false|yes|no|on|off|[01]|checkout|rebase|merge|none|)$/i;

/** Settings whose value is a command, a program, or an option that names one. */
export const COMMAND_SETTINGS: readonly RegExp[] = [
  /^core\.(?:fsmonitor|sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand)$/,
  /^(?:sequence\.editor|diff\.external|interactive\.difffilter|imap\.tunnel)$/,
  /^(?:uploadpack\.packobjectshook|gc\.recentobjectshook|hook\..*|gpg\.(?:.*\.)?program|gpg\.ssh\.defaultkeycommand)$/s,
  /^(?:diff\..*\.(?:command|textconv)|merge\..*\.driver|filter\..*\.(?:clean|smudge|process))$/s,
  /^(?:credential\.(?:.*\.)?helper|pager\..*|alias\..*|remote\..*\.(?:uploadpack|receivepack|vcs))$/s,
  /^(?:trailer\..*\.(?:command|cmd)|tar\..*\.command|submodule\..*\.update)$/s,
  /^(?:(?:merge|diff)tool\..*\.(?:cmd|path|layout)|(?:guitool|browser|man)\..*\.(?:cmd|path))$/s,
  /^(?:web\.browser|help\.browser|man\.viewer|instaweb\.(?:browser|httpd)|gitcvs\.dbdriver)$/,
  /^sendemail\.(?:.*\.)?(?:sendmailcmd|tocmd|cccmd|headercmd|smtpserver)$/s,
  // A merge strategy that git does not have is a program.
  /^(?:branch\..*\.mergeoptions|pull\.(?:twohead|octopus))$/s,
  // Transports such as `ext::`, whose address is a command, must not be allowed.
  /^protocol\.(?:.*\.)?allow$/s,
  /^svn\.authorsprog$/,
  // A format may contain line feeds, and each line is a step of the rebase, such as `exec`.
  /^rebase\.instructionformat$/,
  /^lfs\.(?:customtransfer\..*|standalonetransferagent|extension\..*|.*\.standalonetransferagent)$/s,
];

const LEADS: readonly RegExp[] = [
  /^(?:url|http)\..*/s,
  /^core\.(?:worktree|attributesfile)$/,
  /^(?:remote\.pushdefault|branch\..*\.(?:remote|pushremote)|remote\..*\.(?:url|pushurl|push|fetch|mirror|proxy))$/s,
  /^gpg\.ssh\.(?:allowedsignersfile|revocationfile)$/,
  /^(?:credential|bundle|safe|sendemail|imap)\..*/s,
  /^(?:lfs\.(?:.*\.)?(?:push)?url|fetch\.bundleuri|format\.(?:to|cc|headers))$/s,
];

/** Settings that name a tool. Git reads commands from a file of that name in a folder of its own, so a path is code. */
const TOOLS = /^(?:diff|merge)\.(?:gui)?tool$/;

/** Sections of git itself, and of programs whose settings are in the table. */
const KNOWN = new Set(
  ("add advice alias am apply attr author blame branch browser bundle checkout clean clone color column commit " +
    "commitgraph committer completion core credential credentialcache credentialstore diff difftool extensions " +
    "fastimport feature fetch filter format fsck fsmonitor gc gitcvs gitweb gpg grep gui guitool help hook http " +
    "i18n imap include includeif index init instaweb interactive lfs log lsrefs mailinfo mailmap maintenance man " +
    "merge mergetool notes pack pager pretty promisor protocol pull push rebase receive remote remotes repack " +
    "rerere revert safe sendemail sequence showbranch sideband sparse splitindex ssh stash status submodule svn " +
    "tag tar trace2 trailer transfer uploadarchive uploadpack uploadpackfilter url user versionsort web worktree")
    .split(" "),
);

/** Matches names of settings of other programs that suggest that a program is run. */
const SOUNDS_LIKE_COMMAND =
  /(?:cmd|command|program|hooks?|hookspath|hooksdir|script|exec|shell|helper|tool|path|prog|options|args)$/;

/**
 * What a setting does.
 *
 * @param key as `readGitSettings` returns it
 */
export function settingEffect(key: string, value: string): SettingEffect {
  if (SWITCHES.test(key) && SWITCH_VALUES.test(value)) return "plain";
  if (RUN_FROM.test(key) || READ_FROM.test(key) || COMMAND_SETTINGS.some((form) => form.test(key))) {
    return "runs";
  }
  // `ext::` runs a command, and so may any transport of this form.
  if (/\.(?:url|pushurl)$/.test(key) && /^[^/]*::|^-/.test(value)) return "runs";
  if (TOOLS.test(key)) return value.includes("/") ? "runs" : "plain";
  const name = key.slice(key.lastIndexOf(".") + 1);
  // The names of git's own settings have no hyphens: `remote.origin.annex-shell` belongs to another program.
  const isForeign = !KNOWN.has(key.slice(0, key.indexOf("."))) || name.includes("-");
  if (isForeign && SOUNDS_LIKE_COMMAND.test(name)) return "runs";
  return LEADS.some((form) => form.test(key)) ? "leads" : "plain";
}
