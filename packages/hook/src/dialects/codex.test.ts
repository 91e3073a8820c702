import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { codex } from './codex.ts';

/** Returns the status of a call with this response. */
function statusOf(tool_response: unknown, transcript_path?: string): unknown {
  const input = {
    hook_event_name: 'PostToolUse',
    session_id: 's',
    tool_name: 'Bash',
    tool_use_id: 'call_1',
    tool_input: { command: 'npm test' },
    tool_response,
    transcript_path,
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

/** Returns a line of a transcript for the end of a command. */
function ended(id: string, exit_code: number | null): string {
  const item = { type: 'CommandExecution', id, aggregated_output: 'no', exit_code };
  return JSON.stringify({ type: 'event_msg', payload: { type: 'item_completed', item } });
}

test.each([
  [[ended('call_1', 3)], 500],
  [[ended('call_1', 124)], 408],
  [[ended('call_1', 0), ended('call_2', 3)], 200],
  [['x'.repeat(2 << 20), ended('call_1', 3), '{"type":"CommandExecution","id":"call_1'], 200],
  [['x'.repeat(2 << 20), ended('call_1', 3), '{"payload":{"item":{"id":"call_1"}}}'], 500],
  [[ended('call_1', null)], 200],
  [[], 200],
] as const)('takes the status of a command from its transcript, case %#', (lines, status) => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-transcript-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'rollout.jsonl');
  writeFileSync(file, lines.join('\n'));
  expect(statusOf('no', file)).toBe(status);
});

test('takes a command without a readable transcript for one that succeeded', () => {
  expect(statusOf('no', '/nowhere/rollout.jsonl')).toBe(200);
});
