import { randomUUID } from 'node:crypto';
import type { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { createSdkMcpServer, type Options, tool } from '@anthropic-ai/claude-agent-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { claudeRuns, runClaude } from '../tests/claude.ts';
import { guarded, permissionService, recordedOutcomes } from '../tests/permission-service.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await permissionService();
});
afterAll(() => service.close());

describe.runIf(await claudeRuns())('with the real Claude Code', () => {
  /** Makes the model call `echo` with `a`, and the user allow it with another text. */
  async function runWith(text: string) {
    const sessionId = randomUUID();
    const echo = tool('echo', 'Says it again.', { text: z.string() }, async (given) => ({
      content: [{ type: 'text', text: `echo: ${given.text}` }],
    }));
    const options: Options = {
      sessionId,
      mcpServers: { own: createSdkMcpServer({ name: 'own', tools: [echo] }) },
      canUseTool: async () => ({ behavior: 'allow', updatedInput: { text } }),
    };
    const { toolResults } = await runClaude({
      turns: [[{ name: 'mcp__own__echo', input: { text: 'a' } }]],
      options: actlog(options, { recorder: guarded(service) }),
    });
    return {
      told: toolResults.map((result) => result.text),
      events: await recordedOutcomes(service, sessionId),
    };
  }

  test('checks an input changed by canUseTool before the tool runs', async () => {
    const { told, events } = await runWith('b');
    expect(told).toEqual([
      expect.stringMatching(/The call of the tool "mcp__own__echo" was not run: .*No b\./),
    ]);
    expect(events).toEqual([[await hashArguments({ text: 'b' }), 403]]);
  });

  test('records an allowed changed call once, with its new input', async () => {
    const { told, events } = await runWith('d');
    expect(told).toEqual(['echo: d']);
    expect(events).toEqual([[await hashArguments({ text: 'd' }), 200]]);
  });
});
