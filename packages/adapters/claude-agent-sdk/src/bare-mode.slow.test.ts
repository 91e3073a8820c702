import type { HookCallback, Options } from '@anthropic-ai/claude-agent-sdk';
import { expect, test } from 'vitest';
import { claudeRuns, runClaude } from '../tests/claude.ts';

const bare: Record<string, Options> = {
  'by its argument': { extraArgs: { bare: null } },
  'by its environment': { env: { CLAUDE_CODE_SIMPLE: ' True' } },
};

test.runIf(await claudeRuns()).each(Object.entries(bare))(
  'calls no hooks in a bare Claude Code %s',
  async (_how, options) => {
    const called: string[] = [];
    const hook: HookCallback = async ({ hook_event_name }) => {
      called.push(hook_event_name);
      return {};
    };
    const hooks: Options['hooks'] = { PreToolUse: [{ hooks: [hook], onFailure: 'block' }] };
    const input = { command: 'printf hi', description: 'A command.' };
    const { toolResults } = await runClaude({
      turns: [[{ name: 'Bash', input }]],
      options: { ...options, allowedTools: ['Bash'], hooks },
    });
    expect(toolResults).toEqual([{ text: 'hi', isError: false }]);
    expect(called).toEqual([]);
  },
);
