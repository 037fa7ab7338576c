" From code to a conversation and back: asks about lines, shows and hides the conversation, copies code, switches the model.

" Appends a reference to lines of this file to a conversation, and puts the cursor below it.
function! flemma#chat#ask(first, last, name) abort
  let [buf, file] = [bufnr('%'), expand('%:p')]
  if empty(flemma#run#name(buf)) || !filereadable(file)
    return flemma#say('save this text to a file first: a conversation refers to files', 'WarningMsg')
  endif
  let unsaved = &modified
  let target = a:name !=# '' ? a:name : s:last_name()
  if target ==# '' || !s:open(target)
    return
  endif
  let lines = a:first == a:last ? a:first : a:first . '-' . a:last
  call s:append('@' . s:path(expand('%:p:h'), file) . '#L' . lines)
  if unsaved
    call flemma#say('the model reads ' . fnamemodify(file, ':t') . ' as it was saved; you have unsaved changes there', 'WarningMsg')
  endif
endfunction

" Hides the window of the conversation, or opens the one that was used last.
function! flemma#chat#toggle(name) abort
  let shown = filter(range(1, winnr('$')), {_, window -> getbufvar(winbufnr(window), '&filetype') ==# 'chat'})
  if a:name ==# '' && !empty(shown)
    return winnr('$') > 1 ? execute(shown[0] . 'hide') : flemma#say('there is no other window', 'None')
  endif
  let target = a:name !=# '' ? a:name : s:last_name()
  if target !=# ''
    call s:open(target)
  endif
endfunction

" Copies the code block at the cursor, or the nearest one. Input and results of calls do not count.
function! flemma#chat#yank() abort
  let [best, distance] = [[], -1]
  let [open, fence, at] = [0, '', line('.')]
  for number in range(1, line('$'))
    let text = getline(number)
    if fence ==# '' && text =~# '^`\{3,}[^`]*$'
      let [open, fence] = [number, matchstr(text, '^`\+')]
    elseif fence !=# '' && text =~# '^' . fence . '`*\s*$'
      let fence = ''
      let far = at < open ? open - at : max([at - number, 0])
      if (distance < 0 || far < distance) && getline(prevnonblank(open - 1)) !~# '^\*\*Tool '
        let [best, distance] = [[open, number], far]
      endif
    endif
  endfor
  if empty(best)
    return flemma#say('there is no code block', 'None')
  endif
  let lines = getline(best[0] + 1, best[1] - 1)
  call setreg(v:register, lines, 'V')
  call flemma#say('copied ' . len(lines) . (len(lines) == 1 ? ' line' : ' lines'), 'None')
endfunction

" Sets the model of this document for the session.
function! flemma#chat#model(name) abort
  if a:name ==# ''
    return flemma#say('name a model; Tab completes it', 'WarningMsg')
  endif
  let [lines, code] = flemma#view#run(['session', 'set', 'model=' . a:name, '--', expand('%:p')], [])
  call flemma#say(get(lines, 0, 'exit code ' . code), code == 0 ? 'None' : 'ErrorMsg')
endfunction

" Names of the models and presets of the document's provider.
function! flemma#chat#models() abort
  let [lines, code] = flemma#view#run(['models', 'list', '--json'], [])
  let models = code == 0 ? json_decode(join(lines, "\n")).models : []
  let marks = []
  for model in models
    call extend(marks, filter(copy(model.marks), {_, mark -> mark[0] ==# '$'}))
  endfor
  return map(models, {_, model -> model.name}) + marks
endfunction

" Conversations that are open or lie in a folder, for completion.
function! flemma#chat#names(lead) abort
  let files = filter(getcompletion(a:lead, 'file'), {_, file -> file =~# '/$\|\.chat$'})
  return uniq(sort(map(s:chats(), {_, info -> fnamemodify(info.name, ':~:.')}) + files))
endfunction

function! s:chats() abort
  return filter(getbufinfo({'buflisted': 1}), {_, info -> info.name =~# '\.chat$' && getbufvar(info.bufnr, '&buftype') ==# ''})
endfunction

" The conversation that was used last; asks for a name if none is open.
function! s:last_name() abort
  let chats = sort(s:chats(), {a, b -> b.lastused - a.lastused})
  return empty(chats) ? input('Conversation: ', 'notes.chat', 'file') : chats[0].name
endfunction

" Opens a conversation in a window, and creates it if there is none. Answers whether it is open.
function! s:open(name) abort
  let path = fnamemodify(a:name =~# '\.chat$' ? a:name : a:name . '.chat', ':p')
  if !filereadable(path) && !bufloaded(path)
    let [lines, code] = flemma#view#run(['new', '--quiet', '--', path], [])
    if code != 0
      call flemma#say(get(lines, 0, 'exit code ' . code), 'ErrorMsg')
      return 0
    endif
  endif
  let window = bufwinid(bufnr('^' . path . '$'))
  if window > 0
    call win_gotoid(window)
  else
    execute 'botright vsplit' fnameescape(path)
  endif
  return 1
endfunction

" Writes a line into the last question, or into a new one, and waits for words below it.
function! s:append(line) abort
  let last = prevnonblank('$')
  call cursor('$', 1)
  let role = getline(flemma#fold#search('^@\%(You\|Assistant\|System\):', 'bcnW'))
  let begin = role =~# '^@You:' ? [] : ['', '@You:']
  if empty(begin) && getline(last) !~# '^@'
    let begin = ['']
  endif
  if last < line('$')
    execute 'silent' (last + 1) . ',$delete _'
  endif
  call append(last, begin + [a:line, ''])
  call cursor('$', 1)
  startinsert
endfunction

" The path of a file as a reference in a document of a folder.
function! s:path(folder, file) abort
  let [from, to] = [split(a:folder, '/'), split(a:file, '/')]
  while !empty(from) && len(to) > 1 && from[0] ==# to[0]
    call remove(from, 0)
    call remove(to, 0)
  endwhile
  let path = (empty(from) ? './' : repeat('../', len(from))) . join(to, '/')
  return substitute(path, '[[:cntrl:] !-,:-@[-^`{-~]', {found -> printf('%%%02X', char2nr(found[0]))}, 'g')
endfunction
