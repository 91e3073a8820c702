import { Service } from '@actlog/adapter-suite';
import type { HookCallback, Options } from '@anthropic-ai/claude-agent-sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { claudeRuns, runClaude } from '../tests/claude.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const bare: Record<string, Options> = {
  'by its argument': { extraArgs: { bare: null } },
  'by its environment': { env: { CLAUDE_CODE_SIMPLE: ' True' } },
};

test.each(Object.entries(bare))('rejects a bare Claude Code %s', (_how, options) => {
  expect(() => actlog(options, { recorder: service.recorder() })).toThrow(TypeError);
});

test('uses the environment of the process if the options have none', () => {
  vi.stubEnv('CLAUDE_CODE_SIMPLE', '1');
  const adapter = { recorder: service.recorder() };
  expect(() => actlog({}, adapter)).toThrow(TypeError);
  expect(() => actlog({ env: { CLAUDE_CODE_SIMPLE: '0' } }, adapter)).not.toThrow();
  vi.unstubAllEnvs();
});

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
