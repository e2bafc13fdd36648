// Tells the model something beside the result of a call.
let text = ''
for await (const chunk of process.stdin) text += chunk
const { tool_name: tool, mcp_server: server } = JSON.parse(text)
console.log(
  JSON.stringify({
    hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: `${tool} of ${server.key} is read by everybody in the team.` },
  }),
)
