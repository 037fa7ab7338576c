" What the runtime files show and where keys lead, without a run. Vim or Neovim runs this as `-S`; faults go into $FAULTS.

set nocompatible noswapfile hidden
filetype plugin on
syntax on
runtime plugin/flemma.vim

let s:text =<< trim END
  ```lua
  flemma.opt.x = 1
  ```
  @System:
  Be brief.

  @You:
  Look at {{ __dirname }}.

  @Assistant:
  <thinking>
  First I look.
  </thinking>
  I will.

  **Tool Use:** `bash` (`call_1`)

  ```json
  {"command":"ls"}
  ```

  **Tool Use:** `write` (`call_2`)

  ```json
  {"path":"a"}
  ```

  @You:

  **Tool Result:** `call_1` (error)

  ````
  one
  ```
  two
  ````

  **Tool Result:** `call_2`

  ```flemma:tool status=pending
  ```
END

function! s:line(text) abort
  return index(s:text, a:text) + 1
endfunction

function! s:group(text, word) abort
  let line = s:line(a:text)
  return synIDattr(synID(line, stridx(a:text, a:word) + 1, 1), 'name')
endfunction

function! s:play() abort
  let g:flemma_program = ['no-such-program']
  silent file notes.chat
  call setline(1, s:text)
  doautocmd BufRead
  call assert_equal('chat', &filetype)

  " Folds: answers and thinking closed, what waits in sight.
  normal! zx
  call assert_equal(s:line('<thinking>'), foldclosed(s:line('First I look.')))
  call assert_equal(s:line('</thinking>'), foldclosedend(s:line('First I look.')))
  call assert_equal(s:line('````'), foldclosed(s:line('two')))
  call assert_equal(-1, foldclosed(s:line('**Tool Result:** `call_1` (error)')))
  call assert_equal(-1, foldclosed(s:line('```flemma:tool status=pending')))
  call assert_equal(-1, foldclosed(s:line('{"command":"ls"}')))
  call assert_equal('+ bash: (error) one (5 lines) ', foldtextresult(s:line('````')))
  call assert_equal('+ thinking: First I look. (3 lines) ', foldtextresult(s:line('<thinking>')))
  " An answer that takes the place of a word that waits is folded too.
  let [from, last] = [s:line('```flemma:tool status=pending'), line('$')]
  call setline(from, ['```', 'hello', '```'])
  redraw
  call assert_equal(from, foldclosed(from + 1))
  silent execute from . ',$delete _'
  call append(from - 1, s:text[from - 1 :])
  call assert_equal(s:text, getline(1, '$'))

  " Ways.
  normal zR
  call cursor(1, 1)
  normal ]m
  call assert_equal(s:line('@System:'), line('.'))
  normal ]m]m]m
  call assert_equal('@You:', getline('.'))
  normal [m
  call assert_equal('@Assistant:', getline('.'))
  normal ]w
  call assert_equal('```flemma:tool status=pending', getline('.'))
  normal gd
  call assert_equal('**Tool Use:** `write` (`call_2`)', getline('.'))
  normal gd
  call assert_equal('**Tool Result:** `call_2`', getline('.'))
  call cursor(s:line('{"command":"ls"}'), 1)
  normal gd
  call assert_equal('**Tool Result:** `call_1` (error)', getline('.'))

  " Text objects.
  call cursor(s:line('two'), 1)
  normal yic
  call assert_equal("one\n```\ntwo\n", @")
  normal yac
  call assert_equal(join(s:text[s:line('**Tool Result:** `call_1` (error)') - 1 : s:line('````') + 3], "\n") . "\n", @")
  call cursor(s:line('Be brief.'), 1)
  normal yim
  call assert_equal("Be brief.\n", @")
  normal yam
  call assert_equal("@System:\nBe brief.\n\n", @")

  " Colours.
  call assert_equal('chatRole', s:group('@Assistant:', '@'))
  call assert_equal('chatThinking', s:group('First I look.', 'First'))
  call assert_equal('chatTemplate', s:group('Look at {{ __dirname }}.', '__'))
  call assert_equal('chatError', s:group('**Tool Result:** `call_1` (error)', '(error)'))
  call assert_equal('chatPendingWord', s:group('```flemma:tool status=pending', 'pending'))

  " The command: completion, and a word it does not know.
  call assert_equal(['messages'], getcompletion('Flemma me', 'cmdline'))
  call assert_match('unknown command :Flemma foo; use advance, always, approve', execute('Flemma foo'))
  call assert_match('no-such-program was not found on the path', execute('Flemma advance'))
  call assert_match('no run is in progress', execute('Flemma cancel'))
  for said in ['flemma: no key', 'no key']
    call assert_equal("\nflemma: no key", execute("call flemma#say(said, 'None')"), 'the name of the program comes once')
  endfor
  setlocal nomodifiable
  call assert_match('cannot be changed', execute('Flemma advance'))
  setlocal modifiable
  call assert_equal('', flemma#view#statusline())

  " Keys belong to the person.
  call assert_equal('<Plug>(flemma-approve)', maparg('ga', 'n'))
  silent edit other.txt
  call assert_equal('', maparg('ga', 'n'))
  nmap <Leader>y <Plug>(flemma-approve)
  new
  silent file more.chat
  doautocmd BufRead
  call assert_equal('', maparg('ga', 'n'))
  call assert_equal('<Plug>(flemma-reject)', maparg('gR', 'n'))
  let g:flemma_no_keys = 1
  new
  silent file last.chat
  doautocmd BufRead
  call assert_equal('', maparg('gR', 'n'))
  unlet g:flemma_no_keys
endfunction

" No key is the beginning of a longer one that the editor or its plugins map, which would win over keys typed fast.
function! s:keys() abort
  enew!
  silent file keys.chat
  doautocmd BufRead
  let tried = 0
  for mode in ['n', 'x', 'o', 'i']
    if has('nvim')
      let [ours, others] = [nvim_buf_get_keymap(0, mode), nvim_get_keymap(mode)]
    elseif exists('*maplist')
      let maps = filter(maplist(), {_, map -> map.mode =~# '[ ' . mode . ']' || map.mode ==# 'v' && mode ==# 'x'})
      let [ours, others] = [filter(copy(maps), {_, map -> map.buffer}), filter(copy(maps), {_, map -> !map.buffer})]
    else
      return
    endif
    for map in filter(ours, {_, map -> map.lhs !~# '^<Plug>'})
      let tried += 1
      call assert_equal([], filter(map(copy(others), {_, other -> other.lhs}), {_, lhs -> lhs !=# map.lhs && stridx(lhs, map.lhs) == 0}), map.lhs)
    endfor
  endfor
  call assert_true(tried > 20, tried)
endfunction

" What looks like a marker, a call or a waiting result inside a plain fence is text.
function! s:fences() abort
  let text =<< trim END
    @You:
    Look.

    ````
    @Assistant:
    ```flemma:tool status=pending
    **Tool Use:** `bash` (`c`)
    ```
    ````

    @Assistant:
    Yes, ```` a ```` it is.

    @You:
  END
  enew!
  silent file fences.chat
  doautocmd BufRead
  call setline(1, text)
  let groups = map(range(5, 8), {_, line -> synIDattr(synID(line, 1, 1), 'name')})
  call assert_equal(['chatCode'], uniq(groups))
  call assert_equal('chatRole', synIDattr(synID(11, 1, 1), 'name'))
  call assert_equal('chatRole', synIDattr(synID(14, 1, 1), 'name'))
  call cursor(1, 1)
  normal ]m
  call assert_equal(11, line('.'))
  normal [m
  call assert_equal(1, line('.'))
  call assert_match('no call is waiting', execute('normal ]w'))
  call assert_equal(1, line('.'))
  normal yim
  call assert_equal(join(text[1:8], "\n") . "\n", @")
  call cursor(7, 1)
  call assert_match('no call here', execute('normal gd'))
  " Far from the beginning, a fence is known by the message that it is in.
  call setline(1, ['@You:', '```'] + repeat(['text'], 1000) + ['@Assistant:', '```', '', '@Assistant:', 'Yes.'])
  normal G
  redraw
  call assert_equal('chatRole', synIDattr(synID(line('$') - 1, 1, 1), 'name'))
endfunction

" Levels after each write of the program equal those of a text that is read for the first time.
function! s:levels() abort
  enew!
  silent file levels.chat
  doautocmd BufRead
  call setline(1, s:text)
  redraw
  let f = flemma#follow#start(bufnr('%'))
  let last = line('$')
  for [line, removed, new] in [[last + 1, 0, ['', '@Assistant:', 'Fi']], [last + 3, 1, ['First', '', '```']], [last + 6, 0, ['@You:', '````']],
        \ [last + 6, 1, ['code', '```']], [s:line('```flemma:tool status=pending'), 2, ['```', '@You:', 'hello', '```']], [2, 1, []],
        \ [1, 1, ['````', '@You:']], [9, 3, ['@You:', 'x']], [3, 4, []]]
    call flemma#follow#edit(f, line, removed, new)
    redraw
    let levels = map(range(1, line('$')), {_, at -> flemma#fold#level(at)})
    let lines = getline(1, '$')
    new
    call setline(1, lines)
    call assert_equal(map(range(1, line('$')), {_, at -> flemma#fold#level(at)}), levels, string([line, removed, new]))
    bwipeout!
    call append(0, 'by the person')
    call assert_equal(levels, map(range(2, line('$')), {_, at -> flemma#fold#level(at)}))
    silent 1delete _
  endfor
  call flemma#follow#stop(f)
  " One row per rule.
  for [lines, levels] in [
        \ [['@You:', 'text', '@Assistant: ', '@System:x', '@'], ['>1', 1, '>1', 1, 1]],
        \ [['**Tool Result:** `a`', '', '```', 'out', '````', 'x'], [1, 1, '>2', '2', '2', 1]],
        \ [['**Tool Result:** `a`', 'text', '```', 'out', '```'], [1, 1, 1, '1', '1']],
        \ [['**Tool Result:** `a`', '**Tool Use:** `b`', '```', 'out', '```'], [1, 1, 1, '1', '1']],
        \ [['**Tool Result:** `a`', '```flemma:tool status=pending', '@You:', '```'], [1, 1, '1', '1']],
        \ [['**Tool Result:** `a`', '``` x`y', '```', '@You:', '``'], [1, 1, 1, '1', '1']],
        \ [['**Tool Result:** `a`', '<br>', '```', '``', '```` '], [1, 1, 1, '1', '1']],
        \ [['<thinking a="b">', '@You:', '```', '</thinking> x', '@You:'], ['>2', 2, 2, 2, '>1']],
        \ [['<server_tool a:blocks="b/=">', '@You:', '</server_tool>', 'x', '<server_tools>'], ['>2', 2, 2, 1, 1]],
        \ [['<thinking a="b"/>', '@You:', '<thinkings>', 'größe'], [1, '>1', 1, 1]]]
    enew!
    call setline(1, lines)
    let b:flemma_tick = -1
    call assert_equal(levels, map(range(1, line('$')), {_, at -> flemma#fold#level(at)}), string(lines))
  endfor
endfunction

" Only a file of this machine names the document.
function! s:names() abort
  for [name, named] in [['scp://host/q.chat', 0], ['https://host/q.chat', 0], ['zip:/a.zip::q.chat', 0], ['flemma://q.chat.1', 0],
        \ ['c:q.chat', 1], ['a:b/q.chat', 1], ['q.chat', 1], ['/tmp/q.chat', 1]]
    let buf = bufadd(name)
    call assert_equal(named ? ['--name', fnamemodify(name, ':p')] : [], flemma#run#name(buf), name)
    execute 'bwipeout!' buf
  endfor
endfunction

" The nearest code block, without those of calls.
function! s:yanks() abort
  enew!
  call setline(1, ['@Assistant:', '```sh', 'one', '```', '', 'a', '', '````', '```', 'two', '````', '',
        \ '**Tool Use:** `bash` (`c`)', '', '```json', '{}', '```'])
  for [line, expected] in [[1, ['one']], [3, ['one']], [5, ['one']], [7, ['```', 'two']], [10, ['```', 'two']], [16, ['```', 'two']]]
    call cursor(line, 1)
    call assert_match('copied ', execute('Flemma yank'))
    call assert_equal(join(expected, "\n") . "\n", @", line)
  endfor
  silent %delete _
  call assert_match('no code block', execute('Flemma yank'))
endfunction

" Both writers at the end of a reply: the prompt of the program goes where the person has one already.
function! s:prompts() abort
  for [typed, expected] in [
        \ [[], ['@You:', 'q', '', '@Assistant:', 'a', '', '@You:', '']],
        \ [['@You:', 'next'], ['@You:', 'q', '', '@Assistant:', 'a', '', '@You:', 'next']],
        \ [['', '', '@You:', 'next'], ['@You:', 'q', '', '@Assistant:', 'a', '', '@You:', 'next']],
        \ [['next'], ['@You:', 'q', '', '@Assistant:', 'a', '', '@You:', '', 'next']]]
    enew!
    call setline(1, ['@You:', 'q'])
    let f = flemma#follow#start(bufnr('%'))
    call append('$', typed)
    call flemma#follow#edit(f, 3, 0, ['', '@Assistant:', 'a'])
    call flemma#follow#finish(f, ['@You:', 'q', '', '@Assistant:', 'a', '', '@You:', ''])
    call flemma#follow#drop_prompt(f)
    call flemma#follow#stop(f)
    call assert_equal(expected, getline(1, '$'))
    call assert_equal(0, f.conflict)
  endfor
endfunction

" A buffer that was read anew in the middle is left alone, and the text is there for whoever asks.
function! s:reloads() abort
  call writefile(['@You:', 'q'], 'reload.chat')
  silent edit! reload.chat
  let f = flemma#follow#start(bufnr('%'))
  call flemma#follow#edit(f, 3, 0, ['', '@Assistant:', 'a'])
  call assert_equal(5, line('$'))
  silent edit!
  call flemma#follow#edit(f, 5, 1, ['all'])
  call flemma#follow#drop_prompt(f)
  call flemma#follow#stop(f)
  call assert_equal(['@You:', 'q'], getline(1, '$'))
  call assert_equal(['@You:', 'q', '', '@Assistant:', 'all'], f.lines)
  call assert_equal(1, f.conflict)
endfunction

" `:make` checks the document, whatever that is called: nothing of its name is an option, runs, or means another file.
function! s:makes() abort
  let g:flemma_program = ['sh', '-c', 'printf "%s\n" "$@" >args', 'it''s % #!']
  for name in ['-x.chat', "it's $(touch ran) `touch ran` \"x\".chat", 'a;touch ran;!%#|.chat', '50%.chat']
    execute 'silent edit!' fnameescape(name)
    setlocal filetype=chat
    silent make!
    call assert_equal(['check', '--', name], readfile('args'))
    bwipeout!
  endfor
  call assert_false(filereadable('ran'))
endfunction

" What a model writes as the last line of its reply is no modeline.
function! s:modelines() abort
  set modeline modelines=5
  call writefile(['@Assistant:', 'vim: set textwidth=7 nomodifiable :'], 'reply.chat')
  silent edit! reply.chat
  call assert_equal([0, 1], [&textwidth, &modifiable])
  call writefile(['vim: set textwidth=7 :'], 'other.txt')
  silent edit! other.txt
  call assert_equal(7, &textwidth, 'the editor reads them elsewhere')
  bwipeout!
endfunction

" A text whose buffer is gone goes to one of its own, under the name of the file.
function! s:asides() abort
  call flemma#view#aside('folder/notes.chat', ['@You:', 'q'])
  let found = filter(getbufinfo({'buflisted': 1}), {_, info -> info.name =~# 'flemma://notes\.chat'})
  call assert_equal([['@You:', 'q']], map(found, {_, info -> getbufline(info.bufnr, 1, '$')}))
endfunction

try
  call s:asides()
  call s:makes()
  call s:modelines()
  call s:prompts()
  call s:reloads()
  call s:play()
  call s:keys()
  call s:fences()
  call s:levels()
  call s:names()
  call s:yanks()
catch
  call add(v:errors, v:exception . ' at ' . v:throwpoint)
endtry
call writefile(v:errors, $FAULTS)
qall!
