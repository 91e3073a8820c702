import { Service } from '@actlog/adapter-suite';
import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
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
