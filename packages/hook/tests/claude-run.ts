import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Options, query } from '@anthropic-ai/claude-agent-sdk';
import {
  MessagesEndpoint,
  type ToolResult,
  type Turns,
} from '../../adapters/claude-agent-sdk/tests/messages-endpoint.ts';
import { type InstallHookOptions, installHook } from '../src/index.ts';
import { actlogScript } from './actlog-script.ts';

export { subagentPrompt } from '../../adapters/claude-agent-sdk/tests/messages-endpoint.ts';

/** A run of the real Claude Code, whose model is scripted. */
export interface ClaudeRun {
  /** Variables of the process, with its home. */
  readonly environment: Record<string, string>;
  readonly turns: Turns;
  readonly subagentTurns?: Turns;
  /** Options of the hook; `false` installs none. */
  readonly hook?: InstallHookOptions | false;
  /** Settings file before the hook is installed. */
  readonly settings?: object;
  readonly options?: Options;
  readonly onSession?: (sessionId: string) => void;
}

/** End of a run. */
export interface EndedRun {
  readonly sessionId: string;
  readonly results: readonly ToolResult[];
  readonly error?: unknown;
}

/** Runs Claude Code with the hook in its settings file. */
export async function runClaude(run: ClaudeRun): Promise<EndedRun> {
  const { environment, turns, subagentTurns, hook = {}, settings, options, onSession } = run;
  const endpoint = await MessagesEndpoint.start(turns, subagentTurns);
  const home = String(environment.HOME);
  const sessionId = randomUUID();
  mkdirSync(join(home, '.claude'), { recursive: true });
  if (settings) writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(settings));
  if (hook) installHook('claude-code', { homeFolder: home, script: actlogScript, ...hook });
  try {
    const running = query({
      prompt: 'go',
      options: {
        cwd: home,
        model: 'claude-sonnet-4-5',
        settingSources: ['user'],
        sessionId,
        ...options,
        env: {
          ...environment,
          CLAUDE_CONFIG_DIR: join(home, '.claude'),
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_AUTOUPDATER: '1',
          ANTHROPIC_BASE_URL: endpoint.url,
          ANTHROPIC_API_KEY: 'no-key',
        },
      },
    });
    onSession?.(sessionId);
    for await (const _message of running);
    return { sessionId, results: endpoint.toolResults() };
  } catch (error) {
    return { sessionId, results: endpoint.toolResults(), error };
  } finally {
    await endpoint.close();
  }
}

/** Returns `true` if Claude Code runs on this machine: its binary is an optional part of the package. */
export async function claudeRuns(environment: Record<string, string>): Promise<boolean> {
  return (await runClaude({ environment, turns: [], hook: false })).error === undefined;
}
