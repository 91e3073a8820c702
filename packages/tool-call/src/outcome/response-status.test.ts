import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { defaultResponseStatus, reachedToolStatus, taskStatus } from './response-status.ts';

function thrown(error: unknown, signal?: AbortSignal): number {
  return defaultResponseStatus({ ok: false, error }, signal);
}

/** Creates the error that Node throws for a command with this exit code. */
function failedCommand(exitCode: number): unknown {
  try {
    return execFileSync(process.execPath, ['-e', `process.exit(${exitCode})`]);
  } catch (error) {
    return error;
  }
}

const invalid = 'MCP error -32602: ';

function mcpError(text: string): unknown {
  return { isError: true, content: [{ type: 'text', text }] };
}

const lazy = {
  get isError(): boolean {
    throw new Error('not loaded');
  },
};

test.each<[string, unknown, number]>([
  ['nothing', undefined, 200],
  ['data that has a status of its own', { status: 404, isError: true }, 200],
  ['a Response', new Response('', { status: 503 }), 503],
  ['the Response of undici or node-fetch', { status: 503, [Symbol.toStringTag]: 'Response' }, 503],
  ['a Response without a status', Response.error(), 500],
  ['an MCP result', { content: [] }, 200],
  ['an MCP error result', { isError: true, content: [] }, 500],
  ['an MCP error result about access', mcpError('Access denied'), 500],
  ['an MCP error result about arguments', mcpError(`${invalid}Invalid arguments for tool read: path`), 400],
  ['an MCP error result about arguments without a code', mcpError('Input validation error: path'), 400],
  ['an MCP error result about an unknown tool', mcpError(`${invalid}Tool read not found`), 404],
  ['an MCP error result about a schema of results', mcpError(`${invalid}Output schema of read`), 500],
  ['an MCP error result about another tool', mcpError('Tool hammer not found'), 500],
  ['a result whose getter throws', lazy, 200],
])('returns the status of a call that returned %s', (_name, result, status) => {
  expect(defaultResponseStatus({ ok: true, result })).toBe(status);
});

test.each<[string, unknown, number]>([
  ['an Error', new Error('broken'), 500],
  ['a string', 'broken', 500],
  ['an error with status', Object.assign(new Error(), { status: 404 }), 404],
  ['an error with statusCode', Object.assign(new Error(), { statusCode: 429 }), 429],
  ['an error with a response', Object.assign(new Error(), { response: { status: 502 } }), 502],
  ['a status that is none', Object.assign(new Error(), { status: 7, code: 'E' }), 500],
  ['what execSync throws of a command that is not there', failedCommand(127), 500],
  ['what execSync throws of a command that was killed', failedCommand(137), 500],
  ['what execSync throws of a command that exits with the status of a success', failedCommand(200), 500],
  ['an error about a successful response', Object.assign(new Error(), { response: { status: 200 } }), 500],
  ['invalid arguments of zod', Object.assign(new Error(), { name: 'ZodError' }), 400],
  ['invalid arguments of LangChain', Object.assign(new Error(), { name: 'ToolInvocationError' }), 400],
  ['invalid arguments over MCP', Object.assign(new Error(), { code: -32602 }), 400],
  ['an unknown tool of an MCP server', Object.assign(new Error('Tool x not found'), { code: -32602 }), 404],
  ['the text of an MCP error', new Error('MCP error -32602: MCP error -32602: Invalid arguments'), 400],
  ['the text of an MCP timeout', new Error('MCP error -32001: Request timed out'), 408],
  ["a timeout of the MCP SDK's second version", Object.assign(new Error(), { code: 'REQUEST_TIMEOUT' }), 408],
  ['an unknown tool over MCP', Object.assign(new Error(), { code: -32601 }), 404],
  ['a timed out MCP request', Object.assign(new Error(), { code: -32001 }), 408],
  ['a timeout signal', new DOMException('', 'TimeoutError'), 408],
  ['a socket timeout', Object.assign(new Error(), { code: 'ETIMEDOUT' }), 408],
  [
    'the error of fetch for a connection timeout',
    new TypeError('fetch failed', {
      cause: Object.assign(new Error(), { code: 'UND_ERR_CONNECT_TIMEOUT' }),
    }),
    408,
  ],
  ['what fetch throws of another failure', new TypeError('fetch failed', { cause: 'ETIMEDOUT' }), 500],
  ['an abort of its own', new DOMException('', 'AbortError'), 500],
  ['an abort of its own, by code', Object.assign(new Error(), { code: 'ABORT_ERR' }), 500],
  ['a code that every object has', Object.assign(new Error(), { code: 'constructor' }), 500],
  ['a name that every object has', Object.assign(new Error(), { name: 'toString' }), 500],
  [
    'an error whose getter throws',
    {
      get name() {
        throw new Error();
      },
    },
    500,
  ],
])('returns the status of a call that threw %s', (_name, error, status) => {
  expect(thrown(error)).toBe(status);
});

test('reports an abort, whatever was thrown', () => {
  const signal = AbortSignal.abort();
  expect(thrown(new Error('socket closed'), signal)).toBe(499);
  expect(thrown('reason', signal)).toBe(499);
  expect(thrown(undefined, signal)).toBe(499);
  expect(thrown(new DOMException('', 'TimeoutError'), signal)).toBe(408);
});

test("reports the timeout of the caller's signal, whatever was thrown", () => {
  const signal = AbortSignal.abort(new DOMException('', 'TimeoutError'));
  expect(thrown(new Error('socket closed'), signal)).toBe(408);
  expect(thrown('reason', signal)).toBe(408);
  expect(thrown(new DOMException('', 'AbortError'), signal)).toBe(408);
});

describe('of a tool that ran', () => {
  const call = { toolName: 'shop__search', arguments: { text: 5, filter: { color: null } } };
  const statusOf = (error: unknown) => reachedToolStatus({ ok: false, error }, call);
  const schemaError = (...issues: object[]) =>
    Object.assign(new Error('invalid'), { name: 'ZodError', issues });

  test("takes a schema's error for the model's only if it is about a value in the arguments", () => {
    const received = (path: unknown[], message: string) =>
      schemaError({ code: 'invalid_type', path, message });
    expect(statusOf(received(['text'], 'Invalid input: expected string, received number'))).toBe(400);
    expect(statusOf(received(['filter', 'color'], 'Invalid input: expected string, received null'))).toBe(
      400,
    );
    expect(statusOf(schemaError({ path: ['text'], received: 'number', message: 'Expected string' }))).toBe(
      400,
    );
    expect(statusOf(received(['text'], 'Invalid input: expected number, received undefined'))).toBe(500);
    expect(statusOf(received(['id'], 'Invalid input: expected number, received undefined'))).toBe(500);
    expect(statusOf(received([], 'Invalid input: expected string, received number'))).toBe(500);
    expect(statusOf(Object.assign(new Error('no issues'), { name: 'ZodError' }))).toBe(500);
  });

  test('takes the error of a server only if it names this tool', () => {
    const mcp = (message: string) => Object.assign(new Error(message), { code: -32602 });
    expect(statusOf(mcp('MCP error -32602: Tool search not found'))).toBe(404);
    expect(statusOf(mcp('MCP error -32602: Invalid arguments for tool search: text'))).toBe(400);
    expect(statusOf(mcp('MCP error -32602: Tool find not found'))).toBe(500);
    expect(statusOf(mcp('MCP error -32602: it broke'))).toBe(500);
    const result = (text: string) => ({ isError: true, content: [{ type: 'text', text }] });
    const statusOfResult = (text: string) => reachedToolStatus({ ok: true, result: result(text) }, call);
    expect(statusOfResult('MCP error -32601: Method not found')).toBe(500);
    expect(statusOfResult("Input validation error: 'text' is a required property")).toBe(400);
  });

  test('keeps the status of HTTP, of a timeout and of an abort by the caller', () => {
    expect(statusOf(Object.assign(new Error('no'), { name: 'ZodError', status: 422 }))).toBe(422);
    expect(statusOf(new DOMException('late', 'TimeoutError'))).toBe(408);
    const signal = AbortSignal.abort();
    expect(reachedToolStatus({ ok: false, error: schemaError() }, { ...call, signal })).toBe(499);
  });
});

test.each([
  ['working', undefined, 202],
  ['input_required', undefined, 202],
  ['completed', undefined, 202],
  ['cancelled', undefined, 499],
  ['failed', undefined, 500],
  ['failed', { code: -32602, message: 'Invalid arguments for tool search: text' }, 400],
  ['failed', { code: -32603, message: 'it broke' }, 500],
])('returns for a task that is %s, with the error %j, the status %s', (status, error, expected) => {
  const task = { taskId: '1', status, ...(error && { error }) };
  for (const result of [{ resultType: 'task', ...task }, { task }]) {
    expect(taskStatus(result)).toBe(expected);
  }
  expect(defaultResponseStatus({ ok: true, result: { resultType: 'task', ...task } })).toBe(expected);
  expect(defaultResponseStatus({ ok: true, result: { ...task, resultType: 'complete' } })).toBe(200);
  // Its own data may mean anything.
  expect(defaultResponseStatus({ ok: true, result: { task } })).toBe(200);
});
