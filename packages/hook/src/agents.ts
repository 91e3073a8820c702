/** Coding agents whose hooks are supported, with their names for people. */
export const agents = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  'gemini-cli': 'Gemini CLI',
  cursor: 'Cursor',
  copilot: 'GitHub Copilot CLI',
} as const;

/** Name of a supported coding agent, as on the command line. */
export type AgentName = keyof typeof agents;

/** Returns `true` for the name of a supported coding agent. */
export function isAgentName(name: unknown): name is AgentName {
  return typeof name === 'string' && Object.hasOwn(agents, name);
}
