import type { Method } from '@actlog/recorder/adapter';
import {
  Agent,
  MCPServerSSE,
  MCPServerStdio,
  MCPServerStreamableHttp,
  Runner,
  type Tool,
} from '@openai/agents';
import { keepDenialsFromOutput } from './denied-output.ts';
import { hookedMethods } from './hooked-methods.ts';
import { hookTool } from './hooked-tool.ts';
import { hookMcpServer } from './mcp-servers.ts';
import { reachAgent } from './reached-agents.ts';
import { recordedRun } from './runs/recorded-run.ts';
import { currentRun } from './runs/run-scope.ts';
import { noteInput, noteRunTexts } from './runs/run-texts.ts';

/** Hooks the SDK's own classes once: default runs, every runner, and agents inside tools all use them. */
export function install(): void {
  hookedMethods.hook(Runner.prototype, 'run', recordedRun);
  // An agent may have tools of `getAllMcpTools` instead of the servers themselves.
  for (const { prototype } of [MCPServerSSE, MCPServerStdio, MCPServerStreamableHttp])
    hookMcpServer(prototype);
  hookedMethods.hook(
    Agent.prototype,
    'getAllTools',
    async (agent: Agent, getAllTools: Method<Promise<Tool[]>>, args) => {
      const tools = await getAllTools.apply(agent, args);
      const run = currentRun();
      if (run?.coveredByAgent) reachAgent(agent, run.coveredByAgent);
      if (run) keepDenialsFromOutput(agent);
      if (run && !run.hasSession) await run.sessionId(); // while the run's trace is available
      if (run) await noteInput(run, agent);
      for (const server of agent.mcpServers) hookMcpServer(server);
      return tools.map(hookTool);
    },
  );
  hookedMethods.hook(
    Agent.prototype,
    'getSystemPrompt',
    async (agent, getSystemPrompt: Method<Promise<string | undefined>>, args) => {
      const instructions = await getSystemPrompt.apply(agent, args);
      const run = currentRun();
      if (run) await noteRunTexts(run, agent, () => ({ system: [instructions] }));
      return instructions;
    },
  );
}
