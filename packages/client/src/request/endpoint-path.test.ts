import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endpointPath, rawPath } from './endpoint-caller.ts';

describe('endpointPath', () => {
  it('encodes every id as one decodable segment', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (id) => {
        fc.pre(id !== '.' && id !== '..');
        const path = endpointPath('/v1/agents/:id/sessions', id);
        const { pathname } = new URL(path, 'https://host');
        expect(pathname.split('/')).toHaveLength(5);
        expect(decodeURIComponent(pathname.split('/')[3] ?? '')).toBe(id);
      }),
    );
  });

  it.each(['', '.', '..', '\ud800', undefined, 7.5, 2 ** 53, Number.NaN, true])('rejects %j', (id) => {
    expect(() => endpointPath('/v1/agents/:id', id as string)).toThrow(/^id in \/v1\/agents\/:id must be/);
  });
});

describe('rawPath', () => {
  it('accepts any path of the deployment', () => {
    expect(rawPath('/v1/new?x=1%202')).toBe('/v1/new?x=1%202');
    expect(rawPath('/v1/ü/..x')).toBe('/v1/%C3%BC/..x');
  });

  it.each([
    'v1/agents',
    '//evil.example/v1',
    'https://evil.example/v1',
    '/\\evil.example',
    '/v1/../admin',
    '/v1/%2e%2E/admin',
    '/v1/./x',
    '/v1/a b',
    '/v1/a\n',
    '/v1#x',
    '',
  ])('rejects %j', (path) => {
    expect(() => rawPath(path)).toThrow(/^path must/);
  });
});
