import { expect, test } from 'vitest';
import { copilot } from './copilot.ts';

/** Returns the status of a call of a tool with this end. */
function statusOf(name: string, toolName: string, end: object): unknown {
  const input = { sessionId: 's', toolName, toolArgs: {}, ...end };
  return (copilot.parse(input, name) as { readonly status?: unknown }).status;
}

test.each([
  ['bash', 'no\n<shellId: 1 completed with exit code 3>', 500],
  ['powershell', 'no\n<shellId: 1 completed with exit code -1>', 500],
  ['bash', 'yes\n<shellId: 0 completed with exit code 0>', 200],
  ['bash', '<shellId: 0 completed with exit code 3>\n<shellId: 1 completed with exit code 0>', 200],
  ['bash', '<command started in background with shellId: 0>', 200],
  ['view', '<shellId: 1 completed with exit code 3>', 200],
])('takes the result of %s, %j, for the status %s', (toolName, textResultForLlm, status) => {
  const toolResult = { resultType: 'success', textResultForLlm };
  expect(statusOf('postToolUse', toolName, { toolResult })).toBe(status);
});

test('takes a result without a text for one that succeeded', () => {
  expect(statusOf('postToolUse', 'bash', {})).toBe(200);
});

test.each([
  ["Tool 'nowhere' does not exist.", 404],
  ["Tool 'other' does not exist.", 500],
  ['"command": Required', 400],
  ['"path": Expected string, received number', 400],
  ['Multiple validation errors:\n- "description": Required\n- "name": Required', 400],
  ['MCP error -32001: Request timed out', 408],
  ['Path does not exist', 500],
])('takes the error %j for the status %s', (error, status) => {
  expect(statusOf('postToolUseFailure', 'nowhere', { error })).toBe(status);
});
