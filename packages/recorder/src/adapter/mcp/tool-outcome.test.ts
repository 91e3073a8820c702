import { expect, test } from 'vitest';
import { toolOutcomeStatus } from './tool-outcome.ts';

const call = { toolName: 'book', arguments: {} };

function failed(code: unknown, message: string, signal?: AbortSignal) {
  const error = Object.assign(new Error(message), { code });
  return toolOutcomeStatus({ ok: false, error }, { ...call, signal });
}

function refused(text: string) {
  const result = { isError: true, content: [{ type: 'text', text }] };
  return toolOutcomeStatus({ ok: true, result }, call);
}

test('derives the status of a rejected call from an error or a result', () => {
  for (const status of [refused, (text: string) => failed(-32602, `MCP error -32602: ${text}`)]) {
    expect(status('Tool book not found')).toBe(404);
    expect(status('MCP error -32602: Tool book not found')).toBe(404);
    expect(status('Tool book disabled')).toBe(404);
    expect(status('Unknown tool: book')).toBe(404);
    expect(status('Invalid arguments for tool book: text: Required')).toBe(400);
    expect(status('Input validation error: Invalid arguments for tool book: text')).toBe(400);
    expect(status('MCP error -32602: Output validation error: Invalid structured content')).not.toBe(400);
    expect(status('Tool hotel not found')).toBeUndefined();
  }
});

test('leaves errors of the tool itself to the table', () => {
  expect(refused('The room was not found.')).toBeUndefined();
  expect(toolOutcomeStatus({ ok: true, result: { content: [] } }, call)).toBeUndefined();
  expect(toolOutcomeStatus({ ok: true, result: null }, call)).toBeUndefined();
  expect(toolOutcomeStatus({ ok: false, error: 'text' }, call)).toBeUndefined();
});

test('maps the errors of the transports', () => {
  expect(failed('REQUEST_TIMEOUT', 'Request timed out')).toBe(408);
  expect(failed('CONNECTION_CLOSED', 'Connection closed')).toBe(503);
  expect(failed(-32000, 'MCP error -32000: Connection closed')).toBe(503);
  expect(failed(undefined, 'Not connected')).toBe(503);
  expect(failed(429, 'Streamable HTTP error: Error POSTing to endpoint: slow down')).toBe(429);
  expect(failed(undefined, 'Error POSTing to endpoint (HTTP 429): slow down')).toBe(429);
  expect(failed(14, 'unavailable')).toBeUndefined();
  expect(failed(-32000, 'the server is busy')).toBeUndefined();
});

test('does not treat an abort as a timeout, although it has the same code', () => {
  expect(failed('REQUEST_TIMEOUT', 'AbortError', AbortSignal.abort())).toBeUndefined();
});

test('does not record a call that requests input, and records a task by its status', () => {
  const ended = (result: unknown) => toolOutcomeStatus({ ok: true, result }, call);
  expect(ended({ resultType: 'input_required', inputRequests: {} })).toBeNull();
  expect(failed(-32042, 'URL elicitation required')).toBeNull();
  expect(ended({ task: { taskId: '1', status: 'working' } })).toBe(202);
  expect(ended({ resultType: 'task', taskId: '1', status: 'input_required' })).toBe(202);
  expect(ended({ resultType: 'task', taskId: '1', status: 'failed' })).toBe(500);
});
