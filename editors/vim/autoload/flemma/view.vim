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
  call s:report(a:buf, ['status', '-', '--json'], {lines, code -> s:status(a:buf, tick, lines, code)})
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
  let at = line('.')
  call s:report(buf, ['approval', 'show', '-', '--line', at, '--json'], {lines, code -> s:shown(buf, lines, code)})
endfunction

function! s:shown(buf, lines, code) abort
  if a:code != 0
    return flemma#say(get(a:lines, -1, 'there is no call to show'), 'WarningMsg')
  endif
  let call = json_decode(join(a:lines, "\n"))[0]
  call s:window(call.text, 'diff')
  let b:flemma_call = {'buf': a:buf, 'id': call.id}
  nnoremap <buffer> <nowait> a :call <SID>decide('approve')<CR>
  nnoremap <buffer> <nowait> r :call <SID>decide('reject')<CR>
  call flemma#say('a approves, r rejects with a reason, q closes', 'None')
endfunction

" Decides about the call that this window shows. Shown is run: the id is said, not a line. A model gave it, so that it may be
" spelled like an option.
function! s:decide(command) abort
  let shown = b:flemma_call
  let words = []
  if a:command ==# 'reject'
    let reason = flemma#ask_reason()
    if type(reason) != v:t_string
      return
    endif
    let words += ['-m', reason]
  endif
  close
  call flemma#run#start(shown.buf, a:command, words + ['--', shown.id])
endfunction

" A report of the program about this buffer, in a window.
function! flemma#view#report(words) abort
  let buf = bufnr('%')
  call s:report(buf, a:words, {lines, code -> s:window(lines, '')})
endfunction

function! flemma#view#messages() abort
  let said = get(b:, 'flemma_said', [])
  call s:window(empty(said) ? ['No messages.'] : said, '')
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

" Runs a report over the text of a buffer; `Done` gets its lines, or what it said where it failed.
function! s:report(buf, words, Done) abort
  let words = copy(a:words)
  if bufname(a:buf) !=# ''
    let words += ['--name', fnamemodify(bufname(a:buf), ':p')]
  endif
  let said = []
  call flemma#job#start(words, getbufline(a:buf, 1, '$'), {
        \ 'err': {line -> add(said, line)},
        \ 'done': {out, code -> a:Done(empty(out) ? said : out, code)}})
endfunction

function! s:window(lines, type) abort
  execute 'botright' min([max([len(a:lines), 3]), &lines / 2]) 'new'
  setlocal buftype=nofile bufhidden=wipe noswapfile nowrap nonumber winfixheight
  call setline(1, a:lines)
  setlocal nomodifiable
  if a:type !=# ''
    execute 'setfiletype' a:type
  endif
  nnoremap <buffer> <nowait> q :close<CR>
endfunction
