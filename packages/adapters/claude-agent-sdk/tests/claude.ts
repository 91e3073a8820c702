import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Options, type Query, query, type SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import { MessagesEndpoint, type ToolResult, type Turns } from './messages-endpoint.ts';

/** A run of Claude Code. */
export interface ClaudeRun {
  readonly turns: Turns;
  readonly subagentTurns?: Turns;
  /** Created for each run, because a run uses them up. */
  readonly options: Options;
  /** Default: `go`. */
  readonly prompt?: string | AsyncIterable<SDKUserMessage>;
  readonly onStart?: (running: Query) => void;
}

/** End of a run. */
export interface EndedRun {
  readonly toolResults: readonly ToolResult[];
  readonly finalText?: string;
  readonly error?: unknown;
}

/**
 * Runs the real Claude Code of the package. It only connects to a Messages API in this process, and has its own empty
 * home and a fake key.
 */
export async function runClaude({
  turns,
  subagentTurns,
  options,
  prompt = 'go',
  onStart,
}: ClaudeRun): Promise<EndedRun> {
  const endpoint = await MessagesEndpoint.start(turns, subagentTurns);
  const home = mkdtempSync(join(tmpdir(), 'actlog-claude-'));
  let finalText: string | undefined;
  try {
    const running = query({ prompt, options: { ...options, ...isolated(home, endpoint.url, options) } });
    onStart?.(running);
    for await (const message of running) {
      if (message.type === 'result' && message.subtype === 'success') finalText = message.result;
    }
    return { toolResults: endpoint.toolResults(), ...(finalText !== undefined && { finalText }) };
  } catch (error) {
    return { toolResults: endpoint.toolResults(), error };
  } finally {
    await endpoint.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function isolated(home: string, url: string, { env }: Options): Partial<Options> {
  return {
    cwd: home,
    model: 'claude-sonnet-4-5',
    settingSources: [],
    env: {
      PATH: process.env.PATH,
      HOME: home,
      TMPDIR: home,
      CLAUDE_CONFIG_DIR: join(home, '.claude'),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'no-key',
      ...env,
    },
  };
}

/** Returns `true` if Claude Code runs on this machine: its binary is an optional part of the package. */
export async function claudeRuns(): Promise<boolean> {
  return (await runClaude({ turns: [], options: { tools: [] } })).finalText === 'done';
}
