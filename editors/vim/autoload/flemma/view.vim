" What is shown beside the text: previews of calls, the status line, windows with a call or a report.

let s:used = {}
let s:calls = {}
" The change that was looked at last.
let s:seen = {}

" Calls without a result as the program saw them last.
function! flemma#view#calls(buf) abort
  return get(s:calls, a:buf, [])
endfunction

" How calls are named on the command line: by id, or by number where the id, which a model gave, is spelled like an option or
" would be parted into words.
function! flemma#view#pending_ids() abort
  return map(copy(flemma#view#calls(bufnr('%'))), {_, call -> call.id =~# '^\w[[:alnum:]_.:+-]*$' ? call.id : call.number})
endfunction

" Looks for the first time at a buffer that was just opened.
function! flemma#view#look(buf, timer) abort
  if bufloaded(a:buf) && getbufvar(a:buf, '&buftype') ==# ''
    call flemma#view#refresh(a:buf)
  endif
endfunction

" Asks what is open in the buffer, and shows a line for each call where it stands.
function! flemma#view#refresh(buf) abort
  let tick = getbufvar(a:buf, 'changedtick')
  if get(s:seen, a:buf, -1) == tick || !executable(flemma#job#program()[0])
    return
  endif
  let s:seen[a:buf] = tick
  call s:start(s:named(a:buf, ['status', '-', '--json']), getbufline(a:buf, 1, '$'), {lines, code -> s:status(a:buf, tick, lines, code)})
endfunction

function! s:status(buf, tick, lines, code) abort
  if a:code != 0 || !bufloaded(a:buf) || !empty(flemma#run#of(a:buf)) || getbufvar(a:buf, 'changedtick') != a:tick
    return
  endif
  let s:calls[a:buf] = json_decode(join(a:lines, "\n")).calls
  call flemma#view#clear(a:buf)
  for call in s:calls[a:buf]
    call s:preview(a:buf, call)
  endfor
  redrawstatus!
endfunction

" The previews stand behind the line of the block, where the editor can show text that is not there.
function! s:preview(buf, call) abort
  let waits = a:call.status ==# 'pending'
  let text = (waits ? '  ← waits for you: ' : '  ← ') . a:call.preview
  let helper = matchstr(get(getbufline(a:buf, a:call.line), 0, ''), '(helper=\zs[a-z0-9-]\+\ze)')
  if waits && helper !=# ''
    let text = '  ← waits in ' . fnamemodify(bufname(a:buf), ':t') . '.d/' . helper . '.chat'
  endif
  let group = waits ? 'FlemmaWaiting' : 'FlemmaPreview'
  if has('nvim')
    call nvim_buf_set_extmark(a:buf, nvim_create_namespace('flemma'), a:call.line - 1, 0, {'virt_text': [[text, group]]})
  elseif has('patch-9.0.0067')
    if empty(prop_type_get(group, {'bufnr': a:buf}))
      call prop_type_add(group, {'bufnr': a:buf, 'highlight': group})
    endif
    call prop_add(a:call.line, 0, {'bufnr': a:buf, 'type': group, 'text': text, 'text_align': 'after'})
  endif
endfunction

function! flemma#view#clear(buf) abort
  if has('nvim')
    call nvim_buf_clear_namespace(a:buf, nvim_create_namespace('flemma'), 0, -1)
  elseif has('patch-9.0.0067')
    for group in ['FlemmaPreview', 'FlemmaWaiting']
      if !empty(prop_type_get(group, {'bufnr': a:buf}))
        call prop_remove({'type': group, 'bufnr': a:buf, 'all': 1})
      endif
    endfor
  endif
endfunction

" A request ended: what it used is told in the status line.
function! flemma#view#used(buf, event) abort
  let record = get(a:event, 'record', {})
  if type(record) != v:t_dict || empty(record)
    return
  endif
  let sum = get(s:used, a:buf, {'tokens': 0, 'cost': 0.0, 'known': 1})
  let sum.tokens += get(record.usage, 'input', 0) + get(record.usage, 'output', 0)
  if type(record.cost) == v:t_float || type(record.cost) == v:t_number
    let sum.cost += record.cost
  else
    let sum.known = 0
  endif
  let s:used[a:buf] = sum
endfunction

" For 'statusline': what runs and for how long, what waits, what was used.
function! flemma#view#statusline() abort
  let buf = bufnr('%')
  let parts = []
  let run = flemma#run#of(buf)
  if !empty(run)
    call add(parts, (run.doing ==# '' ? run.command : run.doing) . ' ' . (localtime() - run.begun) . ' s')
  endif
  let waiting = len(filter(copy(flemma#view#calls(buf)), {_, call -> call.status ==# 'pending'}))
  if waiting > 0 && empty(run)
    call add(parts, waiting . (waiting == 1 ? ' call waits' : ' calls wait'))
  endif
  let used = get(s:used, buf, {})
  if !empty(used)
    call add(parts, used.tokens . ' tokens' . (used.known ? printf(used.cost < 0.1 ? ', $%.4f' : ', $%.2f', used.cost) : ''))
  endif
  return join(parts, ' | ')
endfunction

" Shows the whole call at the cursor, and the change it would make, in a separate window.
function! flemma#view#show() abort
  let buf = bufnr('%')
  let [lines, code] = s:report(buf, ['approval', 'show', '-', '--line', line('.'), '--json'])
  if code != 0
    return flemma#say(get(lines, -1, 'there is no call to show'), 'WarningMsg')
  endif
  let call = json_decode(join(lines, "\n"))[0]
  call s:window(call.text + ['(end of the call)'], 'diff', 'a approves, r rejects with a reason, q closes')
  let b:flemma_call = {'buf': buf, 'id': call.id, 'digest': call.digest}
  nnoremap <buffer> <silent> <nowait> a :call <SID>decide('approve')<CR>
  nnoremap <buffer> <silent> <nowait> r :call <SID>decide('reject')<CR>
endfunction

" True if the end of the text in this window is on the screen. The last line is short, and so never shown in part.
function! s:end_is_shown() abort
  redraw
  return line('w$') == line('$')
endfunction

" Decides about the call that this window shows, if it is the same still and was shown to its end. A model gave its id, which
" may be spelled like an option.
function! s:decide(command) abort
  let shown = b:flemma_call
  if a:command ==# 'approve' && !s:end_is_shown()
    execute "normal! \<C-f>"
    return flemma#say(s:end_is_shown() ? 'this is the end; a approves' : 'there is more below; a approves at the end', 'WarningMsg')
  endif
  let words = []
  if a:command ==# 'reject'
    let reason = flemma#ask_reason()
    if type(reason) != v:t_string
      return
    endif
    let words += ['-m', reason]
  endif
  let [lines, code] = s:report(shown.buf, ['approval', 'show', '-', '--json', '--', shown.id])
  close
  if code != 0 || json_decode(join(lines, "\n"))[0].digest !=# shown.digest
    return flemma#say('the call has changed since it was shown; ' . flemma#key('show') . ' shows it', 'WarningMsg')
  endif
  call flemma#run#start(shown.buf, a:command, words + ['--', shown.id])
endfunction

" A report of the program about this buffer, in a window.
function! flemma#view#report(words) abort
  let [lines, _] = s:report(bufnr('%'), a:words)
  call s:window(lines, '', '')
endfunction

function! flemma#view#messages() abort
  let said = get(b:, 'flemma_said', [])
  call s:window(empty(said) ? ['No messages.'] : said, '', '')
endfunction

" Both texts side by side where the person and the program changed the same lines.
function! flemma#view#conflict(buf, lines) abort
  let told = 'you and the reply changed the same lines; your text stays, the other is shown next to it'
  let window = bufwinid(a:buf)
  if window < 0
    return flemma#view#aside(bufname(a:buf), a:lines)
  endif
  call win_execute(window, 'diffthis')
  let here = win_getid()
  call win_gotoid(window)
  rightbelow vnew
  setlocal buftype=nofile bufhidden=wipe noswapfile
  call setline(1, a:lines)
  setfiletype chat
  diffthis
  autocmd BufWinLeave <buffer> diffoff!
  call win_gotoid(here)
  call flemma#say(told, 'WarningMsg')
endfunction

" A text that the buffer it belongs to cannot take goes to one of its own, where the person finds it.
function! flemma#view#aside(name, lines) abort
  let buf = bufadd('flemma://' . fnamemodify(a:name ==# '' ? 'unnamed' : a:name, ':t') . '.' . localtime())
  call bufload(buf)
  call setbufvar(buf, '&buflisted', 1)
  call setbufvar(buf, '&buftype', 'nofile')
  call setbufline(buf, 1, a:lines)
  call setbufvar(buf, '&filetype', 'chat')
  call flemma#say('the received text is in buffer ' . buf, 'WarningMsg')
endfunction

" Starts a command with a text; `Done` gets its lines, or what it said where it failed.
function! s:start(words, lines, Done) abort
  let said = []
  return flemma#job#start(a:words, a:lines, {
        \ 'err': {line -> add(said, line)},
        \ 'done': {out, code -> a:Done(empty(out) ? said : out, code)}})
endfunction

" Runs a command with a text, and waits for its lines and its exit code.
function! flemma#view#run(words, lines) abort
  let ended = {'lines': [], 'code': -1}
  let job = s:start(a:words, a:lines, {lines, code -> extend(ended, {'lines': lines, 'code': code})})
  if !empty(job)
    call flemma#job#wait(job)
  endif
  return [ended.lines, ended.code]
endfunction

" Runs a report over the text of a buffer, and waits for its lines and its exit code.
function! s:report(buf, words) abort
  return flemma#view#run(s:named(a:buf, a:words), getbufline(a:buf, 1, '$'))
endfunction

" The words with the document's name before `--`.
function! s:named(buf, words) abort
  let end = index(a:words, '--')
  return extend(copy(a:words), flemma#run#name(a:buf), end < 0 ? len(a:words) : end)
endfunction

" Lines, those that are too long in pieces.
function! s:parts(lines, piece) abort
  let parts = []
  for line in a:lines
    call extend(parts, line ==# '' ? [''] : split(line, a:piece))
  endfor
  return parts
endfunction

" Shows lines in a window of their own, wrapped, and as high as they need up to half of the screen.
function! s:window(lines, type, hint) abort
  botright new
  setlocal buftype=nofile bufhidden=wipe noswapfile winfixheight
  if a:type !=# ''
    execute 'setfiletype' a:type
  endif
  setlocal wrap nolist nonumber norelativenumber nofoldenable foldcolumn=0 signcolumn=no conceallevel=0 scrolloff=0
  let [width, most] = [winwidth(0), &lines / 2]
  " Vim may never show all of a line that is higher than the window. A character takes at most eight columns.
  let lines = s:parts(a:lines, '.\{' . max([most * width / 8, 1]) . '}\zs')
  let rows = 0
  for line in lines
    let rows += max([(strdisplaywidth(line) + width - 1) / width, 1])
  endfor
  execute 'resize' min([max([rows, 3]), most])
  call setline(1, lines)
  setlocal nomodifiable
  nnoremap <buffer> <silent> <nowait> q :close<CR>
  redraw
  " Keys that were typed before the window was there were not meant for it.
  let typed = 0
  while getchar(1) isnot 0
    call getchar(0)
    let typed = 1
  endwhile
  if typed || a:hint !=# ''
    call flemma#say(typed ? 'keys typed before this was shown were not taken' : a:hint, typed ? 'WarningMsg' : 'None')
  endif
endfunction
