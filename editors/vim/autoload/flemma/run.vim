" Runs flemma on a buffer: sends the text, and applies changes as they arrive while the person works.

" Runs by buffer.
let s:runs = {}

" Long commands, which report events.
let s:telling = ['advance', 'send', 'execute']

" The run of a buffer; empty if there is none.
function! flemma#run#of(buf) abort
  return get(s:runs, a:buf, {})
endfunction

" Starts a command on the buffer, unless a run is in progress there.
function! flemma#run#start(buf, command, words) abort
  if has_key(s:runs, a:buf)
    return flemma#say('a run is already in progress; ' . flemma#cancel_hint(), 'WarningMsg')
  endif
  if !getbufvar(a:buf, '&modifiable')
    return flemma#say('this buffer cannot be changed', 'WarningMsg')
  endif
  let lines = getbufline(a:buf, 1, '$')
  let words = [a:command, '-'] + flemma#run#name(a:buf)
  if index(s:telling, a:command) >= 0
    let words += ['--events', 'stderr', '--edits']
  else
    let words += ['--messages', 'stderr']
  endif
  " The given words go last, because after -- nothing is an option.
  let words += a:words
  let run = {'buf': a:buf, 'name': bufname(a:buf), 'always': index(a:words, '--always') >= 0, 'command': a:command, 'begun': localtime(), 'doing': '', 'held': '', 'behind': 0, 'said': [], 'stopped': {}, 'want': lines}
  let run.view = s:views(a:buf)
  let run.job = flemma#job#start(words, lines, {
        \ 'err': {line -> s:told(run, line)},
        \ 'done': {out, code -> s:done(run, out, code)}})
  if empty(run.job)
    return
  endif
  let run.follow = flemma#follow#start(a:buf)
  let s:runs[a:buf] = run
  call flemma#view#clear(a:buf)
  call s:tick()
  call flemma#announce('FlemmaStarted', {'buffer': a:buf, 'command': a:command})
  if index(s:telling, a:command) < 0
    " Keys typed behind a decision act on the text with it: the next decision, and the run.
    call flemma#job#wait(run.job)
  endif
endfunction

" The option that names the document. A file on another host, or in an archive, has no path here.
function! flemma#run#name(buf) abort
  let name = bufname(a:buf)
  return name ==# '' || name =~# '^\a[[:alnum:]+.-]\+:[/\\]' ? [] : ['--name', fnamemodify(name, ':p')]
endfunction

" Stops the run of a buffer; a second call stops it immediately.
function! flemma#run#cancel(buf) abort
  let run = flemma#run#of(a:buf)
  if empty(run)
    return flemma#say('no run is in progress', 'None')
  endif
  let run.doing = 'stopping'
  call flemma#job#interrupt(run.job)
  redrawstatus!
endfunction

" Handles a line of the program: an event or a message.
function! s:told(run, line) abort
  if a:line[0] !=# '{'
    if a:line !~# '^\s*$'
      call add(a:run.said, a:line)
    endif
    return
  endif
  let event = json_decode(a:line)
  if event.event ==# 'edit'
    return s:edit(a:run, event)
  elseif event.event ==# 'request:sending'
    let a:run.doing = 'waiting for ' . event.model
  elseif event.event ==# 'reply:progress'
    let a:run.doing = event.block ==# 'thinking' ? 'thinking' : 'writing a call of ' . get(event, 'name', 'a tool')
  elseif event.event ==# 'text'
    let a:run.doing = 'answering'
  elseif event.event ==# 'tool:executing'
    let a:run.doing = event.preview
  elseif event.event ==# 'request:finished'
    call flemma#view#used(a:run.buf, event)
  elseif event.event ==# 'tool:finished' || event.event ==# 'file:changed'
    call s:reload(get(event, 'path', ''))
  elseif event.event ==# 'notice' && index(['approval-not-here', 'was-running'], event.code) >= 0
    let a:run.held = event.message
  elseif event.event ==# 'message'
    call add(a:run.said, event.text)
  elseif event.event ==# 'stopped'
    let a:run.stopped = event
  endif
  call flemma#announce('FlemmaEvent', event)
  if event.event !=# 'text'
    redrawstatus!
  endif
endfunction

" Applies an edit. A hidden buffer is updated when it is shown again, or at the end.
function! s:edit(run, event) abort
  call flemma#follow#splice(a:run.want, a:event.line, a:event.removed, a:event.lines)
  let behind = a:run.behind
  let a:run.behind = !s:is_shown(a:run.buf)
  if a:run.behind
    return
  endif
  let following = s:at_end(a:run.buf)
  if behind
    call flemma#follow#finish(a:run.follow, a:run.want)
  else
    call flemma#follow#edit(a:run.follow, a:event.line, a:event.removed, a:event.lines)
  endif
  call s:follow_end(a:run, following)
  redraw
endfunction

function! s:done(run, out, code) abort
  call remove(s:runs, a:run.buf)
  if empty(s:runs)
    call s:stop_ticking()
  endif
  " The listener is gone with the buffer, so the text goes to another one.
  if !bufloaded(a:run.buf)
    call flemma#follow#stop(a:run.follow)
    return flemma#view#aside(a:run.name, empty(a:out) ? a:run.want : a:out)
  endif
  let following = s:at_end(a:run.buf)
  if !empty(a:out)
    call flemma#follow#finish(a:run.follow, a:out)
  endif
  call flemma#follow#drop_prompt(a:run.follow)
  call flemma#follow#stop(a:run.follow)
  call s:follow_end(a:run, following)
  call s:go_on_at(a:run)
  if a:run.follow.conflict
    call flemma#view#conflict(a:run.buf, a:out)
  elseif empty(a:out) && a:code != 0
    call flemma#say('the run did not return its text; to get it: flemma recover', 'ErrorMsg')
  endif
  call flemma#view#refresh(a:run.buf)
  call s:sum_up(a:run, a:code)
endfunction

" Reports how the run ended. All messages are in `:Flemma messages`.
function! s:sum_up(run, code) abort
  call setbufvar(a:run.buf, 'flemma_said', a:run.said)
  " A filter that changed the text exits with 0, so that editors keep its output; the event has the real code.
  let code = get(a:run.stopped, 'exit', a:code)
  let reason = get(a:run.stopped, 'reason', code == 0 ? 'done' : 'failed')
  let event = {'buffer': a:run.buf, 'command': a:run.command, 'reason': reason, 'exit': code, 'said': a:run.said}
  if code == 3
    call flemma#announce('FlemmaWaiting', event)
  elseif code != 0
    call flemma#announce('FlemmaFailed', event)
  endif
  call flemma#announce('FlemmaFinished', event)
  redrawstatus!
  if a:run.follow.conflict
    return
  endif
  let highlight = code == 0 ? 'None' : 'WarningMsg'
  if reason ==# 'pending'
    let calls = len(a:run.stopped.ids)
    call flemma#say(a:run.held !=# '' ? a:run.held : (calls == 1 ? '1 call waits' : calls . ' calls wait') . ' for you: ' . flemma#keys_hint(), highlight)
  elseif has_key(s:SENTENCES, reason) && !empty(a:run.stopped)
    call flemma#say(s:SENTENCES[reason], highlight)
  elseif code == 0 && index(['approve', 'reject'], a:run.command) >= 0 && !a:run.always
    call s:decided(a:run)
  else
    let said = filter(copy(a:run.said), {_, line -> line !~# '^\s\|flemma recover'})
    call flemma#say(get(said, -1, code == 0 ? s:SENTENCES.ended : 'exit code ' . code), highlight)
  endif
endfunction

" Messages of the program, with this editor's commands in place of the shell's.
let s:SENTENCES = {
      \ 'done': 'the reply is complete',
      \ 'cut': 'the reply is incomplete; continue with :Flemma advance --continue',
      \ 'ended': 'there was nothing to do; see :Flemma status',
      \ 'cancelled': 'stopped; write below a line @You:, or :Flemma advance --continue',
      \ 'batched': 'the request is in a batch; flemma batch fetch writes the reply',
      \ 'last-word': "the last message is the model's; write below a line @You:, or :Flemma advance --continue"}

" A call was decided. With g:flemma_go_on, the run continues once no call is waiting.
function! s:decided(run) abort
  if get(g:, 'flemma_go_on', 0) && !search('^`\{3,}flemma:tool\s\+status=pending\|^\*\*Tool Result:\*\*.*(pending)', 'nw')
    return flemma#run#start(a:run.buf, 'advance', [])
  endif
  call flemma#say((a:run.command ==# 'approve' ? 'approved' : 'rejected') . '; ' . flemma#key('advance') . ' continues', 'None')
endfunction

" Reloads buffers whose files a tool may have written. A buffer with unsaved changes stays; if its path is known, a
" message says so.
function! s:reload(path) abort
  for info in getbufinfo({'bufloaded': 1})
    let buf = info.bufnr
    if getbufvar(buf, '&buftype') !=# '' || has_key(s:runs, buf)
      continue
    elseif !info.changed
      let had = getbufvar(buf, '&autoread')
      call setbufvar(buf, '&autoread', 1)
      execute 'silent! checktime' buf
      call setbufvar(buf, '&autoread', had)
    elseif a:path !=# '' && resolve(info.name) ==# a:path
      call flemma#say('a tool changed ' . fnamemodify(a:path, ':~:.') . ', in which you have unsaved changes', 'WarningMsg')
    endif
  endfor
endfunction

function! s:is_shown(buf) abort
  return !empty(win_findbuf(a:buf))
endfunction

" Where the cursor of each window stands, should the person leave it there.
function! s:views(buf) abort
  let places = {}
  for window in win_findbuf(a:buf)
    let places[window] = getcurpos(window)[1]
  endfor
  return places
endfunction

" The windows whose reader is at the end of the buffer, and not writing there.
function! s:at_end(buf) abort
  let last = getbufinfo(a:buf)[0].linecount
  let writing = mode() =~# '^[iR]'
  return filter(win_findbuf(a:buf), {_, window -> getcurpos(window)[1] == last && !(writing && window == win_getid())})
endfunction

function! s:follow_end(run, windows) abort
  let last = getbufinfo(a:run.buf)[0].linecount
  for window in a:windows
    call win_execute(window, 'call cursor(' . last . ', 1)')
    let a:run.view[window] = last
  endfor
endfunction

" Brings whoever did not move away, nor wrote anything, to where the person is needed.
function! s:go_on_at(run) abort
  let line = get(a:run.stopped, 'line', v:null)
  if type(line) != v:t_number || mode() !=# 'n' || !empty(a:run.follow.hunks)
    return
  endif
  let place = flemma#follow#place(a:run.follow, line, 0)
  for [window, left] in items(a:run.view)
    if winbufnr(win_id2win(window)) == a:run.buf && getcurpos(window)[1] == left
      call win_execute(window, 'call cursor(' . place . ', 1) | call flemma#fold#open(".")')
    endif
  endfor
endfunction

" Quitting during a run stops it. What was saved is saved again, with the mark. This takes a second at most.
function! s:leave() abort
  let runs = values(s:runs)
  for run in runs
    let run.saved = bufloaded(run.buf) && !getbufvar(run.buf, '&modified')
    call flemma#job#interrupt(run.job)
  endfor
  let begun = reltime()
  while !empty(s:runs) && reltimefloat(reltime(begun)) < 1
    sleep 10m
  endwhile
  for run in runs
    if run.saved && !has_key(s:runs, run.buf) && getbufvar(run.buf, '&modified')
      execute 'silent noautocmd keepalt buffer' run.buf
      silent write
    endif
  endfor
endfunction

augroup flemma_leave
  autocmd! VimLeavePre * call s:leave()
augroup END

" The status line counts seconds while something runs.
let s:timer = -1
function! s:tick() abort
  if s:timer < 0
    " A question of the editor would vanish with it.
    let s:timer = timer_start(1000, {_ -> mode(1) ==# 'r?' ? '' : execute('redrawstatus!')}, {'repeat': -1})
  endif
endfunction

function! s:stop_ticking() abort
  call timer_stop(s:timer)
  let s:timer = -1
endfunction
