import type { AgentName } from '../agents.ts';
import type { Dialect } from './dialect.ts';

const loaders: Readonly<Record<AgentName, () => Promise<Dialect>>> = {
  'claude-code': async () => (await import('./claude-code.ts')).claudeCode,
  codex: async () => (await import('./codex.ts')).codex,
  'gemini-cli': async () => (await import('./gemini-cli.ts')).geminiCli,
  cursor: async () => (await import('./cursor.ts')).cursor,
  copilot: async () => (await import('./copilot.ts')).copilot,
};

/** Loads the protocol of an agent, and no other. */
export function loadDialect(agent: AgentName): Promise<Dialect> {
  return loaders[agent]();
}
