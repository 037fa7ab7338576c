-- A person with Neovim's own client: opens the document, waits for the finding, takes the first code action, saves.
local file = vim.env.CHAT
vim.cmd("edit " .. vim.fn.fnameescape(file))
local config = { name = "flemma", cmd = vim.split(vim.env.SERVER, "\n"), root_dir = vim.fn.getcwd() }
local id = vim.lsp.start and vim.lsp.start(config) or vim.lsp.start_client(config)
vim.lsp.buf_attach_client(0, id)

local function wait(what, condition)
  if not vim.wait(30000, condition, 20) then error("not so: " .. what) end
end

local function finding(text)
  for _, each in ipairs(vim.diagnostic.get(0)) do
    if each.message:find(text, 1, true) then return each end
  end
end

wait("the call is told to wait", function() return finding("waits for you: bash: $ echo") ~= nil end)
vim.api.nvim_win_set_cursor(0, { finding("waits for you").lnum + 1, 0 })
-- The person picks from the list that the editor shows.
vim.ui.select = function(items, _, choose)
  for _, item in ipairs(items) do
    local action = item.action or item[2]
    if action.title:find("^" .. vim.env.TAKE) then return choose(item) end
  end
  error("no such action: " .. vim.inspect(items))
end
vim.lsp.buf.code_action()
wait("the word is there", function()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find("status=approved", 1, true) ~= nil
end)
wait("nothing waits any more", function() return finding("waits for you") == nil and finding("is approved") ~= nil end)
vim.lsp.buf.execute_command({ command = "flemma.advance", arguments = { { uri = vim.uri_from_bufnr(0) } } })
wait("the reply is there", function()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find("All done.", 1, true) ~= nil
end)
vim.cmd("write")
vim.lsp.stop_client(id)
vim.cmd("qall!")
