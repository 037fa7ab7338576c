" :Flemma, wherever a conversation may be.
if exists('g:loaded_flemma') || !exists('*setbufline') || !(has('nvim') || has('job'))
  finish
endif
let g:loaded_flemma = 1

command! -nargs=* -range -complete=custom,flemma#complete Flemma call flemma#command(<line1>, <line2>, <f-args>)

nnoremap <silent> <Plug>(flemma-ask) :Flemma ask<CR>
xnoremap <silent> <Plug>(flemma-ask) :Flemma ask<CR>
nnoremap <silent> <Plug>(flemma-toggle) :Flemma toggle<CR>

augroup flemma_reload
  autocmd! BufReadPost *.chat call flemma#follow#reloaded(expand('<abuf>') + 0)
augroup END

highlight default link FlemmaPreview Comment
highlight default link FlemmaWaiting WarningMsg
