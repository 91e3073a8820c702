import { expect, test } from 'vitest';
import { codex } from './codex.ts';

/** Returns the status of a call with this response. */
function statusOf(tool_response: unknown): unknown {
  const input = {
    hook_event_name: 'PostToolUse',
    session_id: 's',
    tool_name: 'Bash',
    tool_use_id: 'call_1',
    tool_input: { command: 'npm test' },
    tool_response,
  };
  return (codex.parse(input, undefined) as { readonly status?: unknown }).status;
}

test.each([
  ['Exit code: 1\nWall time: 0.2 seconds\nOutput:\nno\n', 500],
  ['Wall time: 0.2 seconds\nProcess exited with code 2\nOriginal token count: 1\nOutput:\nno\n', 500],
  ['Chunk ID: 1a\nWall time: 0.2 seconds\nProcess exited with code -1\nOutput:\n', 500],
  ['command timed out after 1000 milliseconds\nno', 408],
  ['Exit code: 124\nOutput:\n', 408],
  ['{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.2}}', 500],
  [{ stdout: '', stderr: 'no', exit_code: 1 }, 500],
  [{ output: 'no', exitCode: 127 }, 500],
  [{ output: 'no', success: false }, 500],
  [{ isError: true, content: [{ type: 'text', text: 'no' }] }, 500],
])('takes the response %j for that of a command with the status %s', (response, status) => {
  expect(statusOf(response)).toBe(status);
});

test.each([
  'all tests passed',
  'Exit code: 0\nWall time: 0.2 seconds\nOutput:\nExit code: 1\n',
  'The log says:\nExit code: 1\n',
  '{"output":"yes","metadata":{"exit_code":0}}',
  '{"exit_code": 1',
  { output: 'yes', exit_code: 0 },
  { content: [] },
  undefined,
  null,
])('takes the response %j for that of a command that succeeded', (response) => {
  expect(statusOf(response)).toBe(200);
});
