-- Conversations: space m m advances, space m a approves the only waiting call, space m A approves all, space m r rejects the only one.
for key, command in pairs({ m = "advance", a = "approve", A = "approve --all", r = "reject" }) do
  vis:map(vis.modes.NORMAL, " m" .. key, ':,|flemma ' .. command .. ' --name "$vis_filepath"<Enter>')
end
