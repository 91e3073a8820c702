import { expect, test } from 'vitest';
import { newSessionId } from './conversations.ts';

test.each([
  ['Support agent', 'Support-agent-'],
  ['  triage/EU (v2)\n', 'triage-EU-v2-'],
  ['Zürich', 'Zürich-'],
  ['x'.repeat(100), `${'x'.repeat(40)}-`],
  ['', ''],
  ['\u202e…', ''],
  [undefined, ''],
])('starts with what is readable in %j', (name, start) => {
  const id = newSessionId(name);
  expect(id.startsWith(start)).toBe(true);
  expect(id.slice(start.length)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});
