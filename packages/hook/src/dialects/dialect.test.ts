import { expect, test } from 'vitest';
import { cursor } from './cursor.ts';
import { geminiCli } from './gemini-cli.ts';

const statusOf = (event: unknown) => (event as { readonly status?: unknown }).status;

test.each([
  ['{"exitCode":0,"stdout":"All tests passed"}', 200],
  ['{"exitCode":1,"stdout":"1 failed"}', 500],
  ['{"isError":true,"content":[{"type":"text","text":"no such file"}]}', 500],
  ['{"content":"exitCode: 1"}', 200],
  ['the exit code is 1', 200],
  [undefined, 200],
])('takes the output %j of a tool of Cursor for the status %i', (tool_output, status) => {
  const input = {
    hook_event_name: 'postToolUse',
    conversation_id: 's',
    tool_name: 'Shell',
    tool_use_id: 'a',
    tool_output,
  };
  expect(statusOf(cursor.parse(input, undefined))).toBe(status);
});

test.each([
  ['run_shell_command', 'Output: ok\nProcess Group PGID: 12', 200],
  ['run_shell_command', 'Output: no\nExit Code: 1\nProcess Group PGID: 12', 500],
  ['run_shell_command', 'Output: (empty)\nSignal: SIGKILL\nBackground PIDs: 13\nProcess Group PGID: 12', 500],
  ['run_shell_command', 'Output: Exit Code: 1\nExit Code: 2\nall passed\nProcess Group PGID: 12', 200],
  ['run_shell_command', 'Command: ls\nOutput: a\nExit Code: 0\nSignal: (none)\nProcess Group PGID: 12', 200],
  [
    'run_shell_command',
    'Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output.',
    408,
  ],
  ['run_shell_command', 'Command was cancelled by user before it could complete.', 499],
  ['read_file', 'Exit Code: 1', 200],
])('takes the text of %s of Gemini CLI, %j, for the status %i', (tool_name, llmContent, status) => {
  const tool_response = { llmContent, returnDisplay: '' };
  const input = { hook_event_name: 'AfterTool', session_id: 's', tool_name, tool_input: {}, tool_response };
  expect(statusOf(geminiCli.parse(input, undefined))).toBe(status);
});
