autocmd BufNewFile,BufRead *.chat setfiletype chat
