# Keys and sign-ins in the keyring of a desktop, and without one. `before` is the earlier program, `after` the new one.

printf password | gnome-keyring-daemon --unlock --components=secrets > /dev/null
mkdir -p ~/.config/flemma ~/.local/bin ~/work && cd ~/work
cat > ~/.config/flemma/config.yaml <<END
tools: { autopilot: { enabled: false } }
mcp: { servers: { web: { url: "$MCP_SERVER" } } }
END
# A browser in which the person consents.
cat > ~/.local/bin/browser <<'END'
#!/bin/sh
exec deno eval --quiet 'await (await fetch(Deno.args[0])).body?.cancel()' "$1"
END
chmod 755 ~/.local/bin/browser
export BROWSER=browser

echo "== each program finds the keys that the other stored"
printf 'key-of-before' | before auth set anthropic
after auth show anthropic | grep 'the keyring (secret-tool)'
after new hello.chat -m "Say hello." --go
printf 'key-of-after' | after auth set gemini
before auth show gemini | grep 'the keyring (secret-tool)'
! grep -r 'key-of' ~ || exit 1

echo "== a sign-in, in the keyring and in a file"
cat > call.txt <<'END'
@You:
Go.

@Assistant:
I will.

**Tool Use:** `web:echo` (`call_0`)

```json
{}
```

@You:

**Tool Result:** `call_0`

```flemma:tool status=pending
```
END
sign_in() {
  where=$1; shift
  cp call.txt call.chat
  "$@" after auth mcp web
  "$@" after auth show | grep "web .*signed in .*$where"
  after approve call.chat
  "$@" after advance call.chat
  grep 'echo done' call.chat
}
sign_in 'in the keyring' env
secret-tool search --all --unlock key access_token | grep 'label = flemma: mcp:'
before check call.chat
sign_in 'in a file' env DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent

echo "== nothing of them remains"
after auth mcp web --remove
after auth remove anthropic
before auth remove gemini
[ -z "$(secret-tool search --all service anthropic; secret-tool search --all service gemini)" ]
[ -z "$(secret-tool search --all key access_token)" ]
[ -z "$(find ~/.local/state/flemma/sign-ins -name '*.json')" ]
