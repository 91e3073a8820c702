import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { policiesFile } from '../../src/policies/files/policies-file.ts';
import { PolicyFolder, refunds } from './policy-folder.ts';

const shipped = join(import.meta.dirname, '../../policies.schema.json');

it('is the shipped file', async () => {
  const { stdout, exitCode } = await new PolicyFolder({}).run('schema');
  expect(exitCode).toBe(0);
  // To update the file: npm test -- policies-schema -u
  await expect(stdout).toMatchFileSnapshot(shipped);
});

describe('the shipped file', () => {
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(
    JSON.parse(readFileSync(shipped, 'utf8')),
  );

  it.each([
    ['policies', parse(refunds), true],
    ['a JSON file with its schema', { $schema: './x.json', policies: [] }, true],
    [
      'a test',
      { tests: [{ action: { tool: 'x', origins: { to: { from: 'user' } } }, decision: 'deny' }] },
      true,
    ],
    ['a test of no policy', { tests: [{ action: { tool: 'x' }, decision: 'allow', decidedBy: null }] }, true],
    ['an unknown effect', { policies: [{ name: 'a', effect: 'forbid' }] }, false],
    ['an unknown field', { policies: [{ name: 'a', effect: 'deny', tools: ['x'] }] }, false],
    ['a missing name', { policies: [{ effect: 'deny' }] }, false],
    ['an incomplete rate', { policies: [{ name: 'a', effect: 'deny', rate: { max: 1 } }] }, false],
    ['a test without an action', { tests: [{ decision: 'deny' }] }, false],
  ])('agrees with the command about %s', (_title, value, isValid) => {
    expect(validate(value)).toBe(isValid);
    expect(policiesFile.safeParse(value).success).toBe(isValid);
  });

  it('describes every field', () => {
    const { properties, definitions } = JSON.parse(readFileSync(shipped, 'utf8'));
    const fields = [
      properties,
      ...Object.values<{ properties: object }>(definitions).map((one) => one.properties),
    ].flatMap((one) => Object.entries<{ description?: string }>(one));
    expect(fields.length).toBeGreaterThan(30);
    expect(fields.filter(([, field]) => !field.description).map(([name]) => name)).toEqual([]);
  });
});
