import {
  BaseResolver,
  createConfig,
  lintDocument,
  makeDocumentFromString,
  type NormalizedProblem,
} from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { expect, test } from 'vitest';
import { openApiDocument } from './openapi.ts';

const documents = {
  'of a service': openApiDocument({ serverUrl: 'https://activity.acme.io', version: '1.2.3' }),
  'with relative addresses': openApiDocument(),
};

/** Returns what Redocly's recommended rules find. */
async function redoclyFindings(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems: NormalizedProblem[] = await lintDocument({
    document: makeDocumentFromString(JSON.stringify(document), 'openapi.json'),
    config,
    externalRefResolver: new BaseResolver(),
  });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
}

/** Returns what Spectral's rules for OpenAPI find. */
async function spectralFindings(document: object): Promise<string[]> {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [rulesets.oas as never] });
  const results = await linter.run(JSON.stringify(document));
  return results.map(({ code, message, path }) => `${code}: ${message} ${path.join('/')}`);
}

test.each(Object.entries(documents))("passes Redocly's recommended rules %s", async (_which, document) => {
  expect(await redoclyFindings(document)).toEqual([]);
});

test.each(Object.entries(documents))("passes Spectral's rules for OpenAPI %s", async (_which, document) => {
  expect(await spectralFindings(document)).toEqual([]);
});

test('both linters find the faults of a document without a license and with an example that does not fit', async () => {
  const broken = JSON.parse(JSON.stringify(openApiDocument())) as {
    info: { license?: object };
    paths: Record<string, { post?: { requestBody: { content: Record<string, { example: object }> } } }>;
  };
  delete broken.info.license;
  const body = broken.paths['/v1/agents']?.post?.requestBody.content['application/json'];
  if (body) body.example = { ...body.example, name: 'two\nlines' };
  expect((await redoclyFindings(broken)).join()).toContain('license');
  expect((await spectralFindings(broken)).join()).toContain('pattern');
});

test('has only patterns that other languages can compile', () => {
  const patterns = new Set<string>();
  JSON.stringify(openApiDocument(), (key, value: unknown) => {
    if (key === 'pattern' && typeof value === 'string') patterns.add(value);
    return value;
  });
  expect(patterns.size).toBeGreaterThan(1);
  for (const pattern of patterns) {
    expect(() => new RegExp(pattern)).not.toThrow();
    // Properties of Unicode, named groups and lookbehind are not in JSON Schema's subset (section 6.4 of its core).
    expect(pattern).not.toMatch(/\\[pPkuU]|\(\?[<P]/);
  }
});
