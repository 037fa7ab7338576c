" :Flemma, wherever a conversation may be.
if exists('g:loaded_flemma') || !exists('*setbufline') || !(has('nvim') || has('job'))
  finish
endif
let g:loaded_flemma = 1

command! -nargs=* -complete=custom,flemma#complete Flemma call flemma#command(<f-args>)

augroup flemma_reload
  autocmd! BufReadPost *.chat call flemma#follow#reloaded(expand('<abuf>') + 0)
augroup END

highlight default link FlemmaPreview Comment
highlight default link FlemmaWaiting WarningMsg
