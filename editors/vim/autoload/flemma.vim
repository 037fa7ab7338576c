" What keys and `:Flemma` do in a conversation.

" Continues the conversation until the person is needed: decides calls, runs approved ones, asks the model.
function! flemma#advance(...) abort
  call flemma#run#start(bufnr('%'), 'advance', copy(a:000))
endfunction

" Cancels the run of this buffer.
function! flemma#cancel() abort
  call flemma#run#cancel(bufnr('%'))
endfunction

function! flemma#cancel_hint() abort
  return flemma#key('cancel') . ' cancels it'
endfunction

" The keys that decide a waiting call.
function! flemma#keys_hint() abort
  return flemma#key('approve') . ' approves, ' . flemma#key('reject') . ' rejects, ' . flemma#key('show') . ' shows it'
endfunction

" The key mapped to an action, or its command.
function! flemma#key(name) abort
  let maps = has('nvim') ? nvim_buf_get_keymap(0, 'n') + nvim_get_keymap('n') : exists('*maplist') ? maplist() : []
  for map in maps
    if map.mode =~# '[n ]' && get(map, 'rhs', '') ==? '<Plug>(flemma-' . a:name . ')'
      return map.lhs
    endif
  endfor
  return ':Flemma ' . a:name
endfunction

" Changes or runs the call at the cursor, or the one of an id.
function! flemma#call(command, ...) abort
  let target = a:0 > 0 ? [a:1] : ['--line', line('.')]
  call flemma#run#start(bufnr('%'), a:command, target + a:000[1:])
endfunction

" Rejects the call at the cursor. Without a reason asks for one; Escape rejects nothing.
function! flemma#reject(...) abort
  let [at, text] = [line('.'), b:changedtick]
  if a:0 == 0 && !empty(flemma#run#of(bufnr('%')))
    return flemma#say('a run is already in progress; ' . flemma#cancel_hint(), 'WarningMsg')
  endif
  if !flemma#object#may_be_call()
    return flemma#say('no call is on line ' . at, 'WarningMsg')
  endif
  let reason = a:0 > 0 ? a:1 : flemma#ask_reason()
  if b:changedtick != text
    call flemma#say('the text changed meanwhile, so nothing was rejected', 'WarningMsg')
  elseif type(reason) == v:t_string
    call flemma#call('reject', '--line', at, '-m', reason)
  endif
endfunction

" Asks for the reason of a rejection, which may be empty; v:null if the person cancels.
function! flemma#ask_reason() abort
  let nothing = "\x01"
  let had = maparg('<Esc>', 'c', 0, 1)
  " input() returns an empty line for both Escape and Enter.
  execute 'cnoremap <Esc> <C-u>' . nothing . '<CR>'
  try
    let reason = input('Reason to reject (Enter: none, Escape: cancel): ')
  catch /^Vim:Interrupt$/
    let reason = nothing
  finally
    cunmap <Esc>
    if !empty(had) && exists('*mapset')
      call mapset('c', 0, had)
    elseif !empty(had)
      execute (had.noremap ? 'cnoremap' : 'cmap') . (had.expr ? ' <expr>' : '') '<Esc>' had.rhs
    endif
  endtry
  redraw
  return reason ==# nothing ? flemma#say('nothing was rejected', 'None') : reason
endfunction

" Shows a message cut to the width of the command line, so that nobody has to press Enter. A line of the program may
" name it already.
function! flemma#say(text, highlight) abort
  let text = 'flemma: ' . substitute(substitute(a:text, '^flemma: ', '', ''), '[[:cntrl:]]', ' ', 'g')
  let room = max([&columns - 14, 10])
  if strdisplaywidth(text) > room
    while strdisplaywidth(text) >= room
      let text = strcharpart(text, 0, strchars(text) - 1)
    endwhile
    let text .= '…'
  endif
  if mode() =~# '^[iR]' || mode() ==# 'c'
    " The person is typing, and a message would vanish: it is shown afterwards.
    let s:unsaid = [a:text, a:highlight]
    augroup flemma_unsaid
      autocmd! InsertLeave,CmdlineLeave * call timer_start(20, {_ -> s:say_unsaid()})
    augroup END
    return v:null
  endif
  redraw
  execute 'echohl' a:highlight
  echo text
  echohl None
  return v:null
endfunction

function! s:say_unsaid() abort
  autocmd! flemma_unsaid
  call call('flemma#say', s:unsaid)
endfunction

" Triggers a user autocommand; `g:flemma_event` holds the details.
function! flemma#announce(name, event) abort
  let g:flemma_event = a:event
  if exists('#User#' . a:name)
    execute 'doautocmd <nomodeline> User' a:name
  endif
endfunction

" The subcommands of :Flemma, called with the words after them.
let s:commands = {
      \ 'advance': {words -> call('flemma#advance', words)},
      \ 'send': {words -> flemma#run#start(bufnr('%'), 'send', words)},
      \ 'execute': {words -> s:at_call('execute', words)},
      \ 'approve': {words -> s:at_call('approve', words)},
      \ 'always': {words -> s:at_call('approve', words + ['--always'])},
      \ 'reject': {words -> empty(words) ? flemma#reject() : flemma#reject(join(words))},
      \ 'cancel': {words -> flemma#cancel()},
      \ 'ask': {words -> flemma#chat#ask(s:lines[0], s:lines[1], get(words, 0, ''))},
      \ 'toggle': {words -> flemma#chat#toggle(get(words, 0, ''))},
      \ 'yank': {words -> flemma#chat#yank()},
      \ 'model': {words -> flemma#chat#model(get(words, 0, ''))},
      \ 'show': {words -> flemma#view#show()},
      \ 'status': {words -> flemma#view#report(['status', '-'] + words)},
      \ 'explain': {words -> flemma#view#report(['approval', 'explain', '-'] + words)},
      \ 'check': {words -> flemma#view#report(['check', '-'] + words)},
      \ 'messages': {words -> flemma#view#messages()},
      \ 'previews': {words -> flemma#view#refresh(bufnr('%'))}}

function! s:at_call(command, words) abort
  let named = !empty(a:words) && a:words[0][0] !=# '-'
  call flemma#run#start(bufnr('%'), a:command, named ? a:words : ['--line', line('.')] + a:words)
endfunction

" Runs a subcommand; the first two numbers are the lines of its range.
function! flemma#command(first, last, ...) abort
  let s:lines = [a:first, a:last]
  let [name; words] = a:0 == 0 ? ['advance'] : a:000
  if !has_key(s:commands, name)
    return flemma#say('unknown command :Flemma ' . name . '; use ' . join(sort(keys(s:commands)), ', '), 'ErrorMsg')
  endif
  call s:commands[name](words)
endfunction

function! flemma#complete(lead, line, position) abort
  let words = split(a:line[: a:position - 1], '\s\+', 1)
  if len(words) <= 2
    return join(sort(keys(s:commands)), "\n")
  endif
  let names = {'approve': 'flemma#view#pending_ids', 'execute': 'flemma#view#pending_ids', 'model': 'flemma#chat#models'}
  return has_key(names, words[1]) ? join(call(names[words[1]], []), "\n")
        \ : index(['ask', 'toggle'], words[1]) < 0 ? '' : join(flemma#chat#names(a:lead), "\n")
endfunction
