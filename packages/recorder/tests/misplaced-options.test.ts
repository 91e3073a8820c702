import { expect, test } from 'vitest';
import { AdapterCalls, refuseGuard, refuseOptions, refuseOptionsOfFunctions } from '../src/adapter/index.ts';
import { Recorder, type RecorderOptions } from '../src/index.ts';
import { actlog } from '../src/loop/index.ts';

const service = { apiKey: 'al_test_x', baseURL: 'http://127.0.0.1:9', spool: false, exitTimeoutMs: 0 };
const recorder = new Recorder(service);
const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
const form = 'middleware: [actlog({ guard })]';

class Agent {
  readonly #model = 'model';
  model() {
    return this.#model;
  }
}

test.each<[string, unknown, RegExp]>([
  [
    'tools by name',
    { deleteUser: { execute: () => 'gone' } },
    /^"deleteUser" is not an option: .*actlog\(\{ guard/,
  ],
  ['a list of tools', [{ name: 'deleteUser' }], /^options must be of type object, got array/],
  ['an agent', new Agent(), /^options must be an object with options, got an instance of Agent, middleware/],
  ['a recorder', recorder, /^options must be an object, got a Recorder: pass \{ recorder \}, middleware/],
  ['options of the guard', guard, /^"mode" is not an option: pass some of recorder, guard/],
  ['options of a recorder', { ...service, guard }, /^"apiKey" is not an option/],
  [
    'a misspelled option',
    { gaurd: guard },
    /^"gaurd" is not an option: .*middleware: \[actlog\(\{ guard \}\)\]\.$/,
  ],
  [
    'a misspelled option of the guard',
    { guard: { enforce: true } },
    /^guard.enforce is not an option of the guard/,
  ],
])('refuses %s in the place of the options', (_kind, options, message) => {
  const traits = { framework: 'tiny', sdk: 'tiny', form };
  expect(() => new AdapterCalls(traits, options as object)).toThrow(message);
});

test('accepts options of any realm or class, undefined ones, and those that only the adapter has', () => {
  const traits = { framework: 'tiny', sdk: 'tiny', optionNames: ['onToolError'] };
  class Settings {
    readonly recorder = recorder;
  }
  for (const options of [
    Object.assign(Object.create(null), { recorder }),
    new Settings(),
    { recorder, guard: undefined, theme: undefined },
    { recorder, onToolError: 'throw' },
  ]) {
    expect(() => new AdapterCalls(traits, options)).not.toThrow();
  }
});

test.each([
  ['guard', guard],
  ['recorder', recorder],
  ['origins', true],
  ['agentId', 'support'],
  ['sessionId', 'ticket-7'],
  ['sessionId', () => 'ticket-7'],
  ['toolName', (name: string) => name],
  ['responseStatus', () => 200],
  ['include', ['delete_user']],
  ['exclude', /search/],
])('refuses the option %s in a first argument', (name, value) => {
  const message = `${name} has no effect in the first argument: pass options second, actlog(tools, { guard }).`;
  const tool = { execute: () => 'gone' };
  for (const given of [{ [name]: value }, { tool, [name]: value }, [tool, { [name]: value }]]) {
    expect(() => refuseOptions(given, 'actlog(tools, { guard })')).toThrow(message);
  }
});

test('accepts tools that are named like an option', () => {
  const tools = {
    guard: { description: 'Calls a guard.', inputSchema: {}, execute: () => 'called' },
    include: { type: 'provider' },
    recorder: { parameters: {} },
  };
  expect(() => refuseOptions(tools, 'actlog(tools, { guard })')).not.toThrow();
  for (const given of [undefined, null, 'text', 7, []]) expect(() => refuseOptions(given, '')).not.toThrow();
});

test('refuses options among the functions of a loop, and accepts functions of that name beside options', () => {
  const gone = () => 'gone';
  const misplaced: object[] = [{ gone, guard }, { guard }, { recorder }, { gone, sessionId: () => 'a' }];
  for (const functions of misplaced) {
    expect(() => actlog(functions as never)).toThrow(
      /has no effect in the first argument: .*actlog\(functions, \{/,
    );
  }
  expect(() => refuseOptionsOfFunctions({ guard: gone }, undefined, '')).not.toThrow();
  expect(() => actlog({ sessionId: gone, include: gone }, { recorder })).not.toThrow();
});

test('refuses a guard where calls are only recorded', () => {
  expect(() => refuseGuard({ guard }, 'actlog(tools, { guard })')).toThrow(
    'guard has no effect here, because this only records: pass it where calls run, actlog(tools, { guard }).',
  );
  expect(() => refuseGuard({ recorder, guard: undefined }, '')).not.toThrow();
});

test.each([
  { mode: 'enforce' },
  { onUnavailable: 'deny' },
  { showArguments: () => ({}) },
  { principal: 'ada' },
])('refuses %j beside the guard of a recorder', (options) => {
  const [name] = Object.keys(options);
  const given = { ...service, ...options } as RecorderOptions;
  expect(() => new Recorder(given)).toThrow(
    `${name} is an option of the guard: pass guard: { ${name}: ... }.`,
  );
});
