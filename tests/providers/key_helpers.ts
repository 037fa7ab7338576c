// Fake key programs as shell scripts that store keys in the folder RING and record their arguments.

/** `secret-tool`: one file for each service and key; the secret comes on standard input, never as an argument. */
export const SECRET_TOOL = `#!/bin/sh
printf '%s\\n' "$*" >> "$RING/calls"
[ -n "$LOCKED" ] && { echo "secret-tool: Cannot get secret of a locked object" >&2; exit 1; }
verb=$1; shift
[ "$verb" = store ] && shift
file="$RING/$2.$4"
case $verb in
  lookup) [ -f "$file" ] || exit 1; cat "$file" ;;
  store) cat > "$file" ;;
  clear) rm -f "$file" ;;
esac
`;

/** `security`: the same, with the options and the exit code of macOS; commands with secrets come by `-i`. */
export const SECURITY = `#!/bin/sh
printf '%s\\n' "$*" >> "$RING/calls"
if [ "$1" = -i ]; then
  read -r line
  eval "set -- $line"
  cat > /dev/null
fi
verb=$1; shift
while [ $# -gt 0 ]; do
  case $1 in
    -s) service=$2; shift 2 ;;
    -a) account=$2; shift 2 ;;
    -w) [ $# -gt 1 ] && secret=$2; shift; [ $# -gt 0 ] && shift ;;
    *) shift ;;
  esac
done
file="$RING/$service.$account"
gone() { echo "security: SecKeychainSearchCopyNext: The specified item could not be found in the keychain." >&2; exit 44; }
case $verb in
  find-generic-password) [ -f "$file" ] || gone; cat "$file" ;;
  add-generic-password) printf '%s\\n' "$secret" > "$file" ;;
  delete-generic-password) [ -f "$file" ] || gone; rm "$file" ;;
esac
`;

/** `gcloud`: prints a token that tells whose it is. */
export const GCLOUD = `#!/bin/sh
printf '%s\\n' "$*" >> "$RING/calls"
[ -n "$LOGGED_OUT" ] && { printf 'ERROR: (gcloud.auth) You do not have an active account.\\nPlease run:\\n' >&2; exit 1; }
if [ -n "$CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE" ]; then
  stat -c %a "$GOOGLE_APPLICATION_CREDENTIALS" > "$RING/mode"
  printf '%s' "$GOOGLE_APPLICATION_CREDENTIALS" > "$RING/file"
  echo "token-of-$(sed 's/.*"name":"//; s/".*//' "$CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE")"
else
  echo token-of-me
fi
`;
