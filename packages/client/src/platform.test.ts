import { afterEach, describe, expect, it, vi } from 'vitest';
import { builtinModule, detectPlatform, environmentVariable } from './platform.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

describe('detectPlatform', () => {
  it.each([
    ['Node', {}, 'node'],
    ['Bun, which imitates Node', { process: { versions: { node: '24.0.0', bun: '1.4.5' } } }, 'other'],
    ['Deno, which imitates Node', { Deno: {} }, 'other'],
    ['workerd with compatibility for Node', { navigator: { userAgent: 'Cloudflare-Workers' } }, 'other'],
    ['an edge function', { EdgeRuntime: 'edge-runtime' }, 'other'],
    ['a page', { process: undefined, navigator: { userAgent: 'Mozilla/5.0' } }, 'browser'],
    ['an unknown platform', { process: undefined, navigator: undefined }, 'other'],
  ])('detects %s', (_what, globals, platform) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    expect(detectPlatform()).toBe(platform);
  });
});

describe('environmentVariable', () => {
  it('trims values, and treats empty ones as missing', () => {
    vi.stubEnv('ACTLOG_TEST', ' value\n');
    expect(environmentVariable('ACTLOG_TEST')).toBe('value');
    vi.stubEnv('ACTLOG_TEST', ' ');
    expect(environmentVariable('ACTLOG_TEST')).toBeUndefined();
  });

  it('works without an environment, and without permission to read it', () => {
    const env = new Proxy(
      {},
      {
        get: () => {
          throw new Error('not allowed');
        },
      },
    );
    vi.stubGlobal('process', { env });
    expect(environmentVariable('ACTLOG_TEST')).toBeUndefined();
    vi.stubGlobal('process', undefined);
    expect(environmentVariable('ACTLOG_TEST')).toBeUndefined();
    expect(builtinModule('node:zlib')).toBeUndefined();
  });
});
