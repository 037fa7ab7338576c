# An upgrade and the way back: `before` is the earlier program, `after` the new one.

waits() { "$@" || [ $? = 3 ]; }

echo "== the earlier program makes one of each"
mkdir -p ~/.config/flemma ~/project/.flemma ~/work/.flemma/tools && cd ~/work
# show_spinner is a key that only the earlier program knows.
cat > ~/.config/flemma/config.yaml <<'END'
tools: { auto_approve: [$readonly], auto_approve_sandboxed: false, show_spinner: false }
END
printf 'one\ntwo\nthree\n' > poem.txt; echo one > note.txt
before new done.chat --system "Answer in one sentence." -m "Say hello." --go
echo "Write its name into answer.txt." >> done.chat
waits before done.chat
before approve done.chat && before done.chat
for name in approved pending; do
  waits before new $name.chat -m "Which text file here is the longest?" --go
done
before approve approved.chat
waits before new killed.chat -m "Run the tests." --go
before approve killed.chat
before killed.chat & run=$!
until grep -q '"start","id":"toolu_03"' ~/.local/state/flemma/journal/*; do kill -0 $run; sleep 0.1; done
kill -9 $run
printf 'tools:\n  rules:\n    - approve: bash\n      command: ["ls *"]\n' > ~/project/.flemma/config.yaml
before trust ~/project
printf '```yaml\nflemma:\n  tools:\n    auto_approve: [bash]\n```\n\n@You:\nHi\n' > trusted.chat
before trust trusted.chat
before session set 'tools.rules+={ approve: bash, command: [seq *] }'
printf '@You:\nSay hello.\n' | before advance > /dev/full || true
before recover > ~/recovered.txt
before usage | tail -n 1 > ~/usage.txt
before trust --list > ~/trust.txt
(cd ~/.local/state/flemma && find undo trust.json usage session recover -type f) > ~/files.txt

echo "== the new program reads all of it, says what changed, and goes on"
after config check > ~/check.txt || [ $? = 1 ]
grep 'show_spinner" has no effect' ~/check.txt
after status approved.chat | grep '^approved  bash'
after status pending.chat | grep '^pending   bash'
after status killed.chat | grep 'asks you again about toolu_03'
after trust --list | cmp - ~/trust.txt
after trust --show ~/project 2>&1 | grep 'config.yaml is trusted'
after session show | grep 'tools.rules += .*seq'
after recover | cmp - ~/recovered.txt
after usage | tail -n 1 | cmp - ~/usage.txt
waits after approved.chat
grep '3 poem.txt' approved.chat
waits after pending.chat
grep 'status=pending' pending.chat
waits after killed.chat
grep 'status=pending' killed.chat
(cd ~/.local/state/flemma && xargs ls) < ~/files.txt
after undo done.chat --list | grep 'answer.txt  toolu_04  can be restored'
after undo done.chat
[ ! -e answer.txt ]
after approve pending.chat
waits after new newer.chat -m "Which text file here is the longest?" --go
after approve newer.chat

echo "== the earlier program goes on with what the new one left"
before status pending.chat | grep '^approved  bash'
before status killed.chat | grep '^pending   bash'
before trust --list | grep project
before session show | grep seq
before recover | cmp - ~/recovered.txt
before usage | grep newer.chat
for name in pending newer; do
  waits before $name.chat
  grep '3 poem.txt' $name.chat
done
waits before killed.chat
grep 'status=pending' killed.chat
after status killed.chat | grep '^pending   bash'
after check *.chat
