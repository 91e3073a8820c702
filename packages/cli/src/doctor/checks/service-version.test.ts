import { expect, test } from 'vitest';
import { compareVersions } from './service.ts';

test.each([
  ['1.4.0', '1.4.0', '1.2.0', undefined],
  ['1.2.0', '1.4.0', '1.2.0', undefined],
  ['1.9.0', '1.4.0', '1.2.0', undefined],
  ['0.9.0', '0.4.0', '0.2.0', undefined],
  ['1.1.9', '1.4.0', '1.2.0', 'service-too-old'],
  ['1.2.0-beta.1', '1.4.0', '1.2.0', 'service-too-old'],
  ['2.0.0', '1.4.0', '1.2.0', 'service-too-new'],
])('judges the service %s by the command %s, which needs %s', (service, own, oldest, code) => {
  expect(compareVersions(service, own, oldest).code).toBe(code);
});

test('skips a version that is none', () => {
  expect(compareVersions('next', '1.0.0', '1.0.0').status).toBe('skipped');
});
