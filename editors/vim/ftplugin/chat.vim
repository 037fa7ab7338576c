" Options and keys of a conversation. `let g:flemma_no_keys = 1` leaves the keys to you; each stands behind a <Plug> name.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

" An editor evaluates this for every line, so it computes levels only after a change.
let b:flemma_tick = -1
let &l:foldexpr = has('nvim') ? 'b:flemma_tick==b:changedtick?b:flemma_levels[v:lnum-1]:flemma#fold#level(v:lnum)' : 'flemma#vim9#Level()'
setlocal foldtext=flemma#fold#text() foldlevel=1 foldmethod=expr
" Others write in a conversation: what looks like a modeline in a reply sets nothing.
setlocal commentstring= autoread nosmartindent nomodeline
let &l:makeprg = join(map(flemma#job#program(), {_, word -> shellescape(word, 1)})) . ' check -- %:S'
setlocal errorformat=%f:%l:%c:\ %t%*[a-z]\ %m
let b:undo_ftplugin = 'setlocal foldmethod< foldexpr< foldtext< foldlevel< commentstring< autoread< smartindent< modeline< makeprg< errorformat<'

nnoremap <buffer> <silent> <Plug>(flemma-advance) :call flemma#advance()<CR>
inoremap <buffer> <silent> <Plug>(flemma-advance) <Esc>:call flemma#advance()<CR>
nnoremap <buffer> <silent> <Plug>(flemma-execute) :call flemma#call('execute')<CR>
nnoremap <buffer> <silent> <Plug>(flemma-cancel) :call flemma#cancel()<CR>
nnoremap <buffer> <silent> <Plug>(flemma-approve) :call flemma#call('approve')<CR>
nnoremap <buffer> <silent> <Plug>(flemma-always) :call flemma#call('approve', '--line', line('.'), '--always')<CR>
nnoremap <buffer> <Plug>(flemma-reject) :call flemma#reject()<CR>
nnoremap <buffer> <silent> <Plug>(flemma-show) :call flemma#view#show()<CR>
nnoremap <buffer> <silent> <Plug>(flemma-partner) :call flemma#move#partner()<CR>
nnoremap <buffer> <silent> <Plug>(flemma-yank) :call flemma#chat#yank()<CR>
for s:mode in ['n', 'x', 'o']
  for [s:name, s:call] in [
        \ ['next-message', "message('')"], ['previous-message', "message('b')"],
        \ ['next-waiting', "waiting('')"], ['previous-waiting', "waiting('b')"]]
    execute s:mode . 'noremap <buffer> <silent> <Plug>(flemma-' . s:name . ') :<C-u>call flemma#move#' . s:call . '<CR>'
  endfor
endfor
for s:mode in ['x', 'o']
  for [s:name, s:call] in [
        \ ['inner-message', "message('i')"], ['a-message', "message('a')"],
        \ ['inner-call', "call('i')"], ['a-call', "call('a')"]]
    execute s:mode . 'noremap <buffer> <silent> <Plug>(flemma-' . s:name . ') :<C-u>call flemma#object#' . s:call . '<CR>'
  endfor
endfor

if !get(g:, 'flemma_no_keys', 0)
  for [s:modes, s:keys, s:name] in [
        \ ['ni', '<C-]>', 'advance'], ['n', '<M-CR>', 'execute'], ['n', '<C-c>', 'cancel'],
        \ ['n', 'ga', 'approve'], ['n', 'gA', 'always'], ['n', 'gR', 'reject'], ['n', 'K', 'show'], ['n', 'gd', 'partner'], ['n', 'gy', 'yank'],
        \ ['nxo', ']m', 'next-message'], ['nxo', '[m', 'previous-message'],
        \ ['nxo', ']w', 'next-waiting'], ['nxo', '[w', 'previous-waiting'],
        \ ['xo', 'im', 'inner-message'], ['xo', 'am', 'a-message'],
        \ ['xo', 'ic', 'inner-call'], ['xo', 'ac', 'a-call']]
    for s:mode in split(s:modes, '\zs')
      if !hasmapto('<Plug>(flemma-' . s:name . ')', s:mode)
        execute s:mode . 'map <buffer>' s:keys '<Plug>(flemma-' . s:name . ')'
      endif
    endfor
  endfor
  nnoremap <buffer> <Space> za
endif

augroup flemma
  autocmd! BufWritePost,CursorHold <buffer> call flemma#view#refresh(expand('<abuf>') + 0)
augroup END
if exists('*timer_start')
  call timer_start(0, function('flemma#view#look', [bufnr('%')]))
endif
