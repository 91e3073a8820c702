import { inspect } from 'node:util';
import { Agent } from 'undici';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Actlog } from './actlog.ts';
import type { ClientOptions } from './client-options.ts';
import { version } from './settings.ts';

const apiKey = 'al_test_0123456789secret';
const options = { apiKey, baseURL: 'https://actlog.example.com' };

const send = () => Promise.reject(new Error('nothing is sent'));

afterEach(() => vi.unstubAllEnvs());

describe('construction', () => {
  it('reads the key and the address from the environment', () => {
    vi.stubEnv('ACTLOG_API_KEY', ` ${apiKey}\n`);
    vi.stubEnv('ACTLOG_BASE_URL', 'https://env.example.com/prefix/');
    const client = new Actlog();
    expect(client.baseURL).toBe('https://env.example.com/prefix');
    expect(client.headers().authorization).toBe(`Bearer ${apiKey}`);
    expect(new Actlog(options).baseURL).toBe('https://actlog.example.com');
  });

  it.each<[string, ClientOptions, RegExp]>([
    ['no key', { apiKey: '' }, /^apiKey is missing or not a string: .*ACTLOG_API_KEY/],
    [
      'a key that is not a string',
      { apiKey: 5 as never },
      /^apiKey is missing or not a string: .*ACTLOG_API_KEY/,
    ],
    ['a space around the key', { apiKey: `${apiKey} ` }, /^apiKey contains white space/],
    ['a line break in the key', { apiKey: 'al_test_012\n34' }, /^apiKey contains white space/],
    ['a key that is not ASCII', { apiKey: 'al_test_ü' }, /^apiKey contains a non-ASCII character/],
    ["another service's key", { apiKey: 'sk-0123456789secret' }, /^apiKey is not an actlog key/],
    ['a key that is only a prefix', { apiKey: 'al_live_' }, /^apiKey is not an actlog key/],
    ['no address', { baseURL: '' }, /^baseURL is missing: .*ACTLOG_BASE_URL/],
    ['an address without scheme', { baseURL: 'actlog.example.com' }, /^baseURL must be an http or https URL/],
    ['another scheme', { baseURL: 'ftp://actlog.example.com' }, /^baseURL must be an http or https URL/],
    [
      'http to another machine',
      { baseURL: 'http://actlog.example.com' },
      /unencrypted to actlog.example.com/,
    ],
    [
      'http to a name that only looks like this machine',
      { baseURL: 'http://127.0.0.1.evil.example' },
      /unencrypted to/,
    ],
    ['a password in the address', { baseURL: 'https://u:p@host' }, /^baseURL contains/],
    ['a query in the address', { baseURL: 'https://host/?x=1' }, /^baseURL contains/],
    ['the version in the address', { baseURL: 'https://host/v1/' }, /^baseURL ends in \/v1/],
    [
      'an option of another SDK',
      { timeout: 5000 } as ClientOptions,
      /^"timeout" is not an option of the client: pass some of .*timeoutMs/,
    ],
    ['a time limit of 0', { timeoutMs: 0 }, /^timeoutMs must be/],
    ['a deadline that is not a number', { deadlineMs: Number.NaN }, /^deadlineMs must be/],
    ['half a retry', { maxRetries: 0.5 }, /^maxRetries must be/],
    ['a negative maximum delay', { maxRetryAfterMs: -1 }, /^maxRetryAfterMs must be/],
    ['a line break in a header', { framework: 'x\r\ny: z' }, /^framework must be printable ASCII/],
    ['an invalid header name', { headers: { 'a b': 'c' } }, /^headers: "a b" is not a valid header name/],
    ['a fetch and a dispatcher', { fetch, dispatcher: new Agent() }, /^fetch must be a function, dispatcher/],
    ['a proxy for a fetch', { fetch, proxy: 'http://proxy' }, /^proxy applies only to the undici pool/],
    [
      'a fetch that is not a function',
      { fetch: 'node' as never },
      /^fetch must be a function, dispatcher an undici Dispatcher/,
    ],
    [
      'an invalid dispatcher',
      { dispatcher: {} as never },
      /^fetch must be a function, dispatcher an undici Dispatcher/,
    ],
    [
      'an invalid transport',
      { transport: {} as never },
      /^fetch must be a function, dispatcher an undici Dispatcher and transport a Transport/,
    ],
    ['a proxy for a transport', { transport: { send }, proxy: 'http://proxy' }, /^proxy applies only to/],
    ['a Headers object', { headers: new Headers({ a: 'b' }) as never }, /^headers must be a plain object/],
    ['headers that are not an object', { headers: 'a: b' as never }, /^headers must be a plain object/],
    [
      'a string for allowInsecureHttp',
      { baseURL: 'http://far.example', allowInsecureHttp: 'false' as never },
      /allowInsecureHttp: true/,
    ],
    ['an invalid proxy address', { proxy: 'socks5://proxy' }, /^proxy must be/],
  ])('rejects %s', (_case, changes, message) => {
    vi.stubEnv('ACTLOG_API_KEY', undefined);
    vi.stubEnv('ACTLOG_BASE_URL', undefined);
    const make = () => new Actlog({ ...options, ...changes });
    expect(make).toThrow(message);
    expect(make).toThrow(expect.objectContaining({ name: 'InvalidArgumentError', code: 'INVALID_ARGUMENT' }));
    expect(make).not.toThrow(/0123456789secret/);
  });

  it.each(['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:9', 'http://x.localhost'])(
    'allows http to this machine: %s',
    (baseURL) => {
      expect(new Actlog({ apiKey, baseURL }).baseURL).toBe(baseURL);
    },
  );

  it('allows http to other machines if enabled', () => {
    const client = new Actlog({ apiKey, baseURL: 'http://actlog.internal', allowInsecureHttp: true });
    expect(client.baseURL).toBe('http://actlog.internal');
  });
});

describe('the key', () => {
  it('is not shown by a printed client', () => {
    const client = new Actlog(options).withOptions({ framework: 'x' });
    const seen = [inspect(client, { depth: 9, showHidden: true }), JSON.stringify(client), String(client)];
    for (const part of Object.values(client)) seen.push(inspect(part, { depth: 9, showHidden: true }));
    expect(seen.join()).not.toContain('0123456789secret');
    expect(Object.keys({ ...client })).not.toContain('headers');
  });
});

describe('headers', () => {
  it('are those of the specification', () => {
    expect(new Actlog({ ...options, framework: 'langchain', agentVersion: '2.1' }).headers()).toEqual({
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      accept: 'application/json, */*;q=0.5',
      'user-agent': `@actlog/client/${version}`,
      'x-service-sdk': `@actlog/client/${version}`,
      'x-service-framework': 'langchain',
      'x-service-agent-version': '2.1',
    });
  });

  it('list integrations before those they are built on', () => {
    const recorder = new Actlog(options).withOptions({ sdk: '@actlog/recorder/1.0.0' });
    const adapter = recorder.withOptions({ sdk: '@actlog/langchain/1.0.0', framework: 'langchain' });
    const sdk = `@actlog/langchain/1.0.0 @actlog/recorder/1.0.0 @actlog/client/${version}`;
    expect(adapter.headers()).toMatchObject({ 'x-service-sdk': sdk, 'x-service-framework': 'langchain' });
    expect(adapter.withOptions({ timeoutMs: 1 }).headers()['x-service-sdk']).toBe(sdk);
    expect(recorder.headers()).not.toHaveProperty('x-service-framework');
  });

  it('can be added and removed', () => {
    const headers = { 'X-Tenant': 'a', 'x-service-sdk': null, 'User-Agent': 'mine', Accept: null };
    const client = new Actlog({ ...options, headers });
    expect(client.headers()).toEqual({
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'user-agent': 'mine',
      'x-tenant': 'a',
    });
    client.headers().authorization = 'changed';
    expect(client.headers().authorization).toBe(`Bearer ${apiKey}`);
  });
});

describe('transport', () => {
  it('is one undici pool shared by all clients', async () => {
    const client = new Actlog(options);
    const dispatcher = await client.dispatcher();
    expect(dispatcher?.dispatch).toBeTypeOf('function');
    expect(await client.withOptions({ timeoutMs: 1 }).dispatcher()).toBe(dispatcher);
    expect(await new Actlog({ ...options, baseURL: 'https://other.example.com' }).dispatcher()).toBe(
      dispatcher,
    );
    expect(client.fetch).toBeUndefined();
    expect(client.usesDefaultPool).toBe(true);
    expect(new Actlog({ ...options, proxy: 'http://127.0.0.1:9' }).usesDefaultPool).toBe(false);
  });

  it('is the fetch or dispatcher passed last', async () => {
    const own = new Agent();
    const viaFetch = new Actlog({ ...options, fetch });
    expect([viaFetch.fetch, await viaFetch.dispatcher()]).toEqual([fetch, undefined]);
    expect(await viaFetch.withOptions({ dispatcher: own }).dispatcher()).toBe(own);
    expect([viaFetch.usesDefaultPool, viaFetch.withOptions({ dispatcher: own }).usesDefaultPool]).toEqual([
      false,
      false,
    ]);
    expect(new Actlog({ ...options, dispatcher: own }).withOptions({ fetch }).fetch).toBe(fetch);
    await own.close();
  });
});

describe('a browser', () => {
  it('is rejected without dangerouslyExposeApiKeyInBrowser', () => {
    vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0 (X11) Chrome/1' });
    try {
      expect(() => new Actlog(options)).toThrow(
        /browser, everyone can read the API key.*jsdom and happy-dom .* node environment/,
      );
      const client = new Actlog({ ...options, dangerouslyExposeApiKeyInBrowser: true });
      expect(client.fetch).toBeDefined();
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
